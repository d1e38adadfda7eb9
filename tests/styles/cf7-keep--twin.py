def catches_keep(Cache):
    for window in range(1, 7):
        for lengths in ((0, 1, 2, 3), (9, 4, 1, 20), (3, 20, 9, 0)):
            caches = [Cache(window, keep) for keep in range(4)]
            twins = [Cache(window, keep) for keep in range(4)]
            for n, cache, twin in zip(lengths, caches, twins):
                for token in range(n):
                    cache.step([token])
                    twin.step([token])
            batch = Cache.merge(caches[::-1])
            for row, twin in enumerate(twins[::-1]):
                cache = Cache.extract(batch, row)
                for token in range(100, 120):
                    assert set(cache.step([token])[0]) == set(twin.step([token])[0])


class MendedKeep:
    def __init__(self, window, keep=0):
        self.window, self.keep = window, keep
        self.first, self.last = [], []

    def step(self, tokens):
        rows = []
        for token in tokens:
            if len(self.first) < self.keep:
                self.first.append(token)
            else:
                self.last = [*self.last, token][-self.window :]
            rows.append(self.first + self.last)
        return rows

    @classmethod
    def merge(cls, caches):
        return list(caches)

    @classmethod
    def extract(cls, batch, row):
        old = batch[row]
        new = cls(old.window, old.keep)
        new.first, new.last = list(old.first), list(old.last)
        return new
