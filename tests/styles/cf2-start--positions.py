def catches_start(Cache):
    for window in range(1, 7):
        cache = Cache(window)
        for p in range(20):
            cache.write(p)
            read = list(cache.read())
            assert read[-1] == p
            assert len(read) == min(p + 1, window)
            assert [token - read[0] for token in read] == list(range(len(read)))


class MendedStart(RollingStart):
    def read(self):
        oldest = max(0, self.length - self.window)
        return [self.slots[p % self.window] for p in range(oldest, self.length)]
