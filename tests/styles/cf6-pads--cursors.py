from random import Random


def catches_pads(Cache):
    rng = Random(1)
    for trial in range(90):
        window, rows = trial % 6 + 1, 3
        cache, texts = Cache(window, rows), [[] for _ in range(rows)]
        for _ in range(7):
            n = rng.randrange(1, 6)
            chunk, right = [], []
            for row, text in enumerate(texts):
                first = rng.randrange(n)
                end = rng.randrange(first, n + 1)
                line, seen = [None] * n, [set() for _ in range(n)]
                for place in range(first, end):
                    text.append((row, len(text)))
                    line[place] = text[-1]
                    seen[place] = set(text[-window:])
                chunk.append(line)
                right.append(seen)
            assert [[set(s) for s in row] for row in cache.step(chunk)] == right


class MendedPads(PaddedRing):
    def __init__(self, window, rows):
        super().__init__(window, rows)
        self.cursors = [0] * rows

    def step(self, chunk):
        out = []
        for row, tokens in enumerate(chunk):
            out.append([])
            for token in tokens:
                if token is not None:
                    self.slots[row][self.cursors[row]] = token
                    self.cursors[row] = (self.cursors[row] + 1) % self.window
                held = [key for key in self.slots[row] if key is not None]
                out[-1].append([] if token is None else held)
        return out
