import numpy as np


def place_of(table, entries, size, position):
    block = np.int64(position // size)
    while block >= entries:
        block -= entries
    return table[block], np.int64(position) % size
