def catches_window(Cache):
    from itertools import pairwise

    def look(window, cuts):
        cache = Cache(window)
        edges = [0, *cuts, 20]
        rows = [r for a, b in pairwise(edges) for r in cache.step(list(range(a, b)))]
        for token, row in enumerate(rows):
            expected = {t for t in range(20) if 0 <= token - t < window}
            assert set(row) == expected, (window, cuts, token)

    for window in (1, 2, 3, 4, 5, 6):
        look(window, [])
        look(window, range(1, 20))
        for cut in range(1, 20):
            look(window, [cut])


class MendedWindow(TwoWindows):
    def step(self, tokens):
        before, keys = len(self.held), [*self.held, *tokens]
        self.held = keys[-self.window :]
        ends = range(before + 1, len(keys) + 1)
        return [tuple(keys[max(0, end - self.window) : end]) for end in ends]
