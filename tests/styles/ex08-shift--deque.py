from collections import deque


class ShiftBuffer:
    def __init__(self, window_size):
        self.kept = deque(maxlen=window_size)

    def append(self, *token):
        self.kept.append(token)

    keys = property(lambda self: [key for key, _, _ in self.kept])
    values = property(lambda self: [value for _, value, _ in self.kept])
    positions = property(lambda self: [position for _, _, position in self.kept])


def entries_moved(tokens, window_size):
    moved = 0
    for held in range(1, tokens + 1):
        moved += window_size if held > window_size else 0
    return moved
