class ShiftBuffer:
    def __init__(self, window_size):
        self.window_size = window_size
        self.keys, self.values, self.positions = [], [], []

    def append(self, key, value, position):
        for kept, new in (
            (self.keys, tuple(key)),
            (self.values, tuple(value)),
            (self.positions, position),
        ):
            kept.append(new)
            del kept[: -self.window_size]


def entries_moved(tokens, window_size):
    buffer, moved = ShiftBuffer(window_size), 0
    for position in range(tokens):
        full = len(buffer.keys) == window_size
        buffer.append([0.0], [0.0], position)
        for _ in range(window_size * full):
            moved += 1
    return moved
