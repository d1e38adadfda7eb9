def catches_flag(Cache):
    for window in range(1, 7):
        cache, text = Cache(window), []
        for token in range(60):
            if token % 3 == 0 or token < 20:
                cache = Cache.load(cache.save())
            text.append(token)
            for row in cache.step([token]):
                assert sorted(row, key=str) == sorted(text[-window:], key=str)
        for length in range(2 * window + 1):
            cache = Cache(window)
            cache.step(list(range(length)))
            cache = Cache.load(cache.save())
            for token in range(length, length + 3 * window):
                seen = set(cache.step([token])[0])
                assert seen == {t for t in range(token + 1) if token - t < window}


class MendedFlag(TextFlag):
    def __init__(self, window):
        super().__init__(window)
        self.length = 0

    def step(self, tokens):
        self.length += len(tokens)
        return super().step(tokens)

    def save(self):
        return self.slots[:], {"window": str(self.window), "length": str(self.length)}

    @classmethod
    def load(cls, saved):
        slots, header = saved
        cache = cls(int(header["window"]))
        cache.slots = slots[:]
        cache.length = int(header["length"])
        cache.index = cache.length % cache.window
        cache.rotated = cache.length >= cache.window
        return cache
