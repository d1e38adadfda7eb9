from collections import deque


def catches_start(Cache):
    caches = {window: (Cache(window), deque(maxlen=window)) for window in range(1, 7)}
    for token in range(20):
        for cache, right in caches.values():
            cache.write(token)
            right.append(token)
            assert list(cache.read()) == list(right)


class MendedStart:
    def __init__(self, window):
        self.tokens = deque(maxlen=window)

    def write(self, token):
        self.tokens.append(token)

    def read(self):
        return list(self.tokens)
