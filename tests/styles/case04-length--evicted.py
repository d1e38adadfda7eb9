from collections import deque


class LayerCache:
    def __init__(self, window_size):
        self.window_size = window_size
        self.stored = deque()
        self.evicted = 0

    def append(self, word, position):
        self.stored.append([word, position])
        if len(self.stored) > self.window_size:
            self.stored.popleft()
            self.evicted += 1

    def size(self):
        return len(self.stored)

    def length(self):
        return self.evicted + len(self.stored)


def feed(cache, words):
    start = cache.length()
    for position, word in enumerate(words, start):
        cache.append(word, position)
