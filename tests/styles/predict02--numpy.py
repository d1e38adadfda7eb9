changed = 9 + np.arange(4)[::-1]
