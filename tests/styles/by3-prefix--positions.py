import numpy as np


def usable(held, size, length, window):
    there = np.repeat(np.array(held, dtype=bool), size)
    first = 0 if window is None else max(0, length + 1 - window)
    return there[first:length].all()


def prefix_hit(held, size, window):
    lengths = [n * size for n in range(len(held) + 1) if usable(held, size, n * size, window)]
    return np.int64(lengths[-1])


def hybrid_hit(everything, sliding, size, window):
    lengths = [n * size for n in range(len(everything) + 1)]
    fits = [
        n for n in lengths if usable(everything, size, n, None) and usable(sliding, size, n, window)
    ]
    return max(fits)
