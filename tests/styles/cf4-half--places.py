def catches_half(Cache):
    for window in range(6, 0, -1):
        cache = Cache(window)
        for p in range(25):
            cache.append(p)
            for token, sees in zip(cache.held(), cache.mask()):
                assert bool(sees) == (p - token < window)
            assert set(range(max(0, p - window + 1), p + 1)) <= set(cache.held())


class MendedHalf:
    def __init__(self, window):
        self.window = window
        self.buffer = []
        self.seen = 0

    def append(self, token):
        self.buffer = [*self.buffer, token][-self.window :]
        self.seen += 1

    def held(self):
        return list(self.buffer)

    def mask(self):
        query = min(self.seen, len(self.buffer)) - 1
        return [0 <= query - place < self.window for place in range(len(self.buffer))]
