import numpy as np


def readable_slots(positions, query_position, window):
    p = np.array(positions)
    return np.flatnonzero((p >= 0) & (p <= query_position) & (p > query_position - window))
