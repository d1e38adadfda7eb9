def catches_pool(Cache):
    def take(pool, texts, name, n):
        new = [1000 * ord(name) + len(texts[name]) + i for i in range(n)]
        rows = pool.step({name: new})[name]
        for i, row in enumerate(rows):
            texts[name].append(new[i])
            assert set(row) == set(texts[name][-window:])

    for window in range(1, 7):
        for names in ("p", "pq", "pqr"):
            n = 2 * window + 3
            pool = Cache(window, n + window * (len(names) - 1))
            texts = {name: [] for name in names}
            for name in names:
                take(pool, texts, name, n)
            for name in names + names[::-1]:
                take(pool, texts, name, 1)
            for name in names * 2:
                take(pool, texts, name, 1)


class MendedPool:
    def __init__(self, window, slots):
        self.window, self.slots = window, slots
        self.held = {}  # at most `window` of each between steps

    def step(self, work):
        wanted = sum(map(len, work.values()))
        if sum(map(len, self.held.values())) + wanted > self.slots:
            raise RuntimeError("no slot is free")
        rows = {}
        for name, tokens in work.items():
            text = self.held.get(name, []) + list(tokens)
            n = len(text) - len(tokens)
            rows[name] = [
                set(text[max(0, n + i + 1 - self.window) : n + i + 1]) for i in range(len(tokens))
            ]
            self.held[name] = text[-self.window :]
        return rows
