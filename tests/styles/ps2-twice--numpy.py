import numpy as np


def times_counted(newest, exact, summaries):
    counts = np.zeros(newest + 1, dtype=int)
    counts[list(exact)] += 1
    for first, last in summaries:
        counts[first : last + 1] += 1
    return counts
