def catches_start(Cache):
    for window in range(1, 8):
        cache, text = Cache(window), []
        for token in "abcdefghijklmnopqrstuvwxyz":
            cache.write(token)
            text.append(token)
            assert "".join(map(str, cache.read())) == "".join(text[-window:])


class MendedStart:
    def __init__(self, window):
        self.window = window
        self.slots = [None] * window
        self.length = 0

    def write(self, token):
        self.slots[self.length % self.window] = token
        self.length += 1

    def read(self):
        if self.length < self.window:
            return self.slots[: self.length]
        start = self.length % self.window
        return self.slots[start:] + self.slots[:start]
