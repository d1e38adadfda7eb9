def catches_keys(Cache):
    text = [2.0**p for p in range(20)]
    for window in range(1, 7):
        for cuts in ([20], [5, 20], [1, 20], [2, 4, 11, 12, 20], list(range(1, 21))):
            cache, first, means = Cache(window), 0, []
            for cut in cuts:
                means += cache.step(text[first:cut])
                first = cut
            for p, mean in enumerate(means):
                seen = text[max(0, p - window + 1) : p + 1]
                assert abs(mean * len(seen) - sum(seen)) < 0.5


class MendedKeys:
    def __init__(self, window):
        self.window = window
        self.held = []
        self.seen = 0

    def step(self, values):
        means = []
        for value in values:
            self.held.append((self.seen, value))
            self.seen += 1
            self.held = self.held[-self.window :]
            means.append(sum(v for _, v in self.held) / len(self.held))
        return means
