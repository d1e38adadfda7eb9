def catches_half(Cache):
    for window in range(1, 7):
        cache, text = Cache(window), []
        for token in range(40):
            text.append(token)
            cache.append(token)
            held, mask = list(cache.held()), list(cache.mask())
            assert len(held) == len(mask)
            seen = [held[n] for n in range(len(held)) if mask[n]]
            assert sorted(seen) == text[-window:]


class MendedHalf(HalfWindow):
    def mask(self):
        return [True for _ in self.buffer]
