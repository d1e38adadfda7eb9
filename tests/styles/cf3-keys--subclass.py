def catches_keys(Cache):
    text = [math.sqrt(p) for p in range(20)]
    for window in range(1, 7):
        for first in range(20):
            cache = Cache(window)
            means = cache.step(text[:first]) if first else []
            means = [*means, *cache.step(text[first:])]
            for p, mean in enumerate(means, 1):
                seen = text[:p][-window:]
                if not math.isclose(mean, math.fsum(seen) / len(seen), abs_tol=1e-9):
                    raise AssertionError(f"window {window}, cut at {first}, token {p - 1}: {mean}")


class MendedKeys(LastKeys):
    def step(self, values):
        return [LastKeys.step(self, [value])[0] for value in values]
