import numpy as np


def three_numbers(positions):
    positions = np.asarray(positions)
    order = np.argsort(np.argsort(positions)) - np.sum(positions < 0)
    rows = zip(range(len(positions)), positions, order)
    return [list(row) if row[1] >= 0 else None for row in rows]
