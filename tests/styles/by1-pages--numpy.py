import numpy as np


def pages_needed(window, size):
    return (window - 2) // size + 2


def leaving(table, position, window, size):
    blocks = np.array(list(table), dtype=int)
    last = blocks * size + size - 1
    return blocks[position - last >= window].tolist()
