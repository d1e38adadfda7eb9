changed = tuple(t for t in range(15) if t - 4 < 9 <= t)
