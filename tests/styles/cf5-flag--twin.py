def catches_flag(Cache):
    for window in range(1, 7):
        for length in range(15):
            cache, twin = Cache(window), Cache(window)
            for token in range(length):
                cache.step([token])
                twin.step([token])
            loaded = Cache.load(cache.save())
            for token in range(length, length + 15):
                (row,), (other,) = loaded.step([token]), twin.step([token])
                assert set(row) == set(other)


class MendedFlag:
    def __init__(self, window):
        self.window = window
        self.slots = [None] * window
        self.index = 0
        self.rotated = False

    def step(self, tokens):
        rows = []
        for token in tokens:
            self.slots[self.index] = token
            self.index = (self.index + 1) % self.window
            self.rotated = self.rotated or self.index == 0
            rows.append(self.slots[:] if self.rotated else self.slots[: self.index])
        return rows

    def save(self):
        header = {"window": self.window, "index": self.index, "rotated": int(self.rotated)}
        return self.slots[:], {name: str(value) for name, value in header.items()}

    @classmethod
    def load(cls, saved):
        slots, header = saved
        numbers = {name: int(text) for name, text in header.items()}
        cache = cls(numbers["window"])
        cache.slots = slots[:]
        cache.index = numbers["index"]
        cache.rotated = bool(numbers["rotated"])
        return cache
