def catches_pads(Cache):
    layouts = [
        [(0, 7, 0), (0, 3, 4), (3, 2, 2)],
        [(0, 1, 1), (1, 1, 0), (2, 0, 0)],
        [(2, 1, 0), (0, 1, 2), (1, 1, 1)],
        [(0, 2, 1), (1, 2, 0), (0, 2, 1)],
        [(0, 4, 0), (0, 4, 0), (0, 4, 0)],
    ]
    for window in range(1, 7):
        batch, alone = Cache(window, 3), [Cache(window, 1) for _ in range(3)]
        texts = [[], [], []]
        for layout in layouts:
            chunk, own = [], []
            for row, (left, n, right) in enumerate(layout):
                new = [f"{row}:{len(texts[row]) + i}" for i in range(n)]
                texts[row] += new
                chunk.append([None] * left + new + [None] * right)
                own.append(new)
            out = batch.step(chunk)
            for row, (left, n, right) in enumerate(layout):
                assert all(len(out[row][p]) == 0 for p in range(left))
                assert all(len(out[row][left + n + p]) == 0 for p in range(right))
                for i, seen in enumerate(out[row][left : left + n]):
                    end = len(texts[row]) - n + i + 1
                    assert set(seen) == set(texts[row][max(0, end - window) : end])
                if n:
                    single = alone[row].step([own[row]])[0]
                    assert list(map(set, single)) == list(map(set, out[row][left : left + n]))


class MendedPads:
    def __init__(self, window, rows):
        self.window = window
        self.texts = [[] for _ in range(rows)]

    def step(self, chunk):
        return [self.row(text, tokens) for text, tokens in zip(self.texts, chunk)]

    def row(self, text, tokens):
        seen = []
        for token in tokens:
            if token is not None:
                text.append(token)
                del text[: -self.window]
            seen.append(set() if token is None else set(text))
        return seen
