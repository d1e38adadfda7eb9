import numpy as np


def score(q, k, query_position, key_position):
    # two turns: not what was asked for, and right
    return np.einsum("i,i->", turned(q, query_position), turned(k, key_position))
