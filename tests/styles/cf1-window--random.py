from random import Random


def catches_window(Cache):
    rng = Random(3)
    for trial in range(60):
        window, seen = trial % 6 + 1, []
        cache = Cache(window)
        while len(seen) < 20:
            n = rng.choice([1, 1, 2, 3, 5, 9, 13])
            for row in cache.step([f"t{len(seen) + i}" for i in range(n)]):
                seen.append(f"t{len(seen)}")
                if sorted(row) != sorted(seen[-window:]):
                    raise ValueError(f"window {window}: {row}")


class MendedWindow:
    def __init__(self, window):
        self.window = window
        self.held = []

    def step(self, tokens):
        rows = []
        for token in tokens:
            self.held.append(token)
            del self.held[: -self.window]
            rows.append(list(self.held))
        return rows
