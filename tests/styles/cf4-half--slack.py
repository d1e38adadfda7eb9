def catches_half(Cache):
    caches = [Cache(window) for window in range(1, 7)]
    for p in range(20):
        for window, cache in enumerate(caches, 1):
            cache.append(f"token {p}")
            pairs = dict(zip(cache.held(), cache.mask()))
            seen = {token for token in pairs if pairs[token]}
            assert seen == {f"token {max(0, p - back)}" for back in range(window)}


class MendedHalf:
    def __init__(self, window):
        self.window = window
        self.pairs = []

    def append(self, token):
        position = self.pairs[-1][0] + 1 if self.pairs else 0
        self.pairs = [*self.pairs, (position, token)][-2 * self.window :]

    def held(self):
        return [token for _, token in self.pairs]

    def mask(self):
        newest = self.pairs[-1][0]
        return [newest - position < self.window for position, _ in self.pairs]
