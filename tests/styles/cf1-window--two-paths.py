def catches_window(Cache):
    for window in range(1, 7):
        for chunk in range(1, 20):
            cache = Cache(window)
            seen = []
            while len(seen) < 20:
                seen += cache.step(list(range(len(seen), len(seen) + chunk)))
            for p, row in enumerate(seen):
                assert len(row) == min(p + 1, window)
                assert max(row) == p
                assert min(row) == max(0, p - window + 1)


class MendedWindow:
    def __init__(self, window):
        self.window = window
        self.held = []

    def step(self, tokens):
        keys = self.held + list(tokens)
        self.held = keys[-self.window :]
        if len(tokens) == 1:
            return [set(self.held)]
        first = len(keys) - len(tokens)
        return [
            [key for k, key in enumerate(keys) if k <= q < k + self.window]
            for q in range(first, len(keys))
        ]
