class LayerCache:
    def __init__(self, window_size):
        self.window_size, self.stored = window_size, []

    def append(self, word, position):
        self.stored = [*self.stored, (word, position)][-self.window_size :]

    def size(self):
        return len(self.stored)

    def length(self):
        return self.stored[-1][1] + 1 if self.stored else 0


def feed(cache, words):
    for word in words:
        cache.append(word, cache.length())
