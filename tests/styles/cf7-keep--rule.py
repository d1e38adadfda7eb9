def catches_keep(Cache):
    sizes = [(2, 12), (0, 12), (3, 12), (1, 2), (2, 1)]
    for window in range(1, 7):
        for turn in range(len(sizes)):
            these = sizes[turn:] + sizes[:turn]
            caches = []
            for keep, length in these:
                cache = Cache(window, keep)
                cache.step(list(range(length)))
                caches.append(cache)
            batch = Cache.merge(caches)
            for row in range(len(these)):
                keep, length = these[row]
                rows = Cache.extract(batch, row).step(list(range(length, 30)))
                for p, seen in enumerate(rows, length):
                    right = {j for j in range(p + 1) if p - j < window or j < keep}
                    assert set(seen) == right


class MendedKeep(LostKeep):
    @classmethod
    def merge(cls, caches):
        return {row: vars(cache).copy() for row, cache in enumerate(caches)}

    @classmethod
    def extract(cls, batch, row):
        cache = cls(1)
        vars(cache).update(batch[row])
        cache.first, cache.last = cache.first[:], cache.last[:]
        return cache
