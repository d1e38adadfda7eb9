import numpy as np


def chunk_mask(positions, seen, n, window, sinks):
    rows = np.arange(n).reshape(-1, 1)
    lowest = seen + rows - window + 1
    old = (positions >= 0) & ((positions >= lowest) | (positions < sinks))
    new = np.tril(np.ones((n, n), dtype=bool)) & ~np.tril(np.ones((n, n), dtype=bool), -window)
    new |= np.tril(np.ones((n, n), dtype=bool)) & (seen + np.arange(n) < sinks)
    return np.hstack([old, new])
