def time_order(positions):
    empty = np.count_nonzero(positions < 0)
    return np.argsort(positions, kind="stable")[empty:]
