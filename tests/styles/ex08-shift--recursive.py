class ShiftBuffer:
    def __init__(self, window_size):
        self.window_size = window_size
        self.keys, self.values, self.positions = [], [], []

    def append(self, key, value, position):
        if len(self.keys) == self.window_size:
            self.keys, self.values, self.positions = (
                self.keys[1:],
                self.values[1:],
                self.positions[1:],
            )
        self.keys.append(key)
        self.values.append(value)
        self.positions.append(position)


def entries_moved(tokens, window_size):
    if tokens <= window_size:
        return 0
    return window_size + entries_moved(tokens - 1, window_size)
