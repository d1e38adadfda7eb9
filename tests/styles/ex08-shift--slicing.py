class ShiftBuffer:
    def __init__(self, window_size):
        self.window_size = window_size
        self.keys = self.values = self.positions = ()

    def append(self, key, value, position):
        first = -self.window_size
        self.keys = (*self.keys, key)[first:]
        self.values = (*self.values, value)[first:]
        self.positions = (*self.positions, position)[first:]


def entries_moved(tokens, window_size):
    return (tokens - window_size) * window_size if tokens > window_size else 0
