def catches_flag(Cache):
    def rows_after(window, length, more):
        cache = Cache(window)
        cache.step(list(range(length)))
        return Cache.load(cache.save()).step(list(range(length, length + more)))

    for window in range(1, 7):
        for length in range(3 * window):
            for n, row in enumerate(rows_after(window, length, 14)):
                end = length + n + 1
                assert len(row) == min(end, window)
                assert all(token in range(end - window, end) for token in row)
                assert len(set(row)) == len(row)


class MendedFlag(TextFlag):
    def save(self):
        slots, header = super().save()
        return slots, {**header, "rotated": "yes" if self.rotated else ""}
