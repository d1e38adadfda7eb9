import numpy as np


def catches_keys(Cache):
    values = np.random.default_rng(0).normal(size=20)
    for window in range(1, 7):
        right = [values[max(0, p - window + 1) : p + 1].mean() for p in range(20)]
        for n in range(1, 21):
            for first in (0, 1, 2, 3):
                cache = Cache(window)
                means = list(cache.step(list(values[:first]))) if first else []
                for a in range(first, 20, n):
                    means += list(cache.step(list(values[a : a + n])))
                np.testing.assert_allclose(means, right, atol=1e-9)


class MendedKeys:
    def __init__(self, window):
        self.window = window
        self.held = []
        self.seen = 0

    def step(self, values):
        before = [value for _, value in self.held]
        text = np.array(before + list(values))
        sums = np.concatenate([[0.0], np.cumsum(text)])
        ends = np.arange(len(before) + 1, len(text) + 1)
        firsts = np.maximum(0, ends - self.window)
        self.seen += len(values)
        positions = range(self.seen - len(text), self.seen)
        self.held = list(zip(positions, text.tolist()))[-self.window :]
        return (sums[ends] - sums[firsts]) / (ends - firsts)
