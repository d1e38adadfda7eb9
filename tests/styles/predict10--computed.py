keys = list(range(9))
wrong_window = next(w for w in range(1, 7) if keys[-w + 1 :] == keys)
columns = [0, 1, 7, 8, 9, 10, 11, 12]
sinks_seen = [[c for c in columns[end - 6 : end] if c < 2] for end in (6, 7, 8)]
