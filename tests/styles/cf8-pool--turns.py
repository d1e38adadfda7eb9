def catches_pool(Cache):
    for window in range(1, 7):
        for count in (1, 2, 3):
            for n in range(window + 1, window + 6):
                names = [f"s{i}" for i in range(count)]
                pool = Cache(window, (count - 1) * window + window + n)
                texts = {name: [] for name in names}
                for turn in range(4):
                    for name in names:
                        new = [(name, turn, i) for i in range(n if turn % 2 == 0 else 1)]
                        for token, row in zip(new, pool.step({name: new})[name]):
                            texts[name].append(token)
                            assert sorted(row) == sorted(texts[name][-window:])
                tight = Cache(window, (count - 1) * window + n)
                for name in names:
                    tight.step({name: list(range(n))})


class MendedPool:
    def __init__(self, window, slots):
        self.window, self.slots = window, slots
        self.held = {}

    def step(self, work):
        room = self.slots - sum(len(tokens) for tokens in work.values())
        for name in {**self.held, **work}:
            room -= min(self.window, len(self.held.get(name, [])))
        if room < 0:
            raise RuntimeError("no slot is free")
        rows = {}
        for name in list(self.held):
            self.held[name] = self.held[name][-self.window :]
        for name, tokens in work.items():
            rows[name] = []
            for token in tokens:
                self.held.setdefault(name, []).append(token)
                rows[name].append(self.held[name][-self.window :])
        return rows
