def chunk_mask(positions, seen, n, window, sinks):
    held = [int(p) for p in positions] + [seen + token for token in range(n)]
    mask = []
    for query in range(seen, seen + n):
        in_window = set(range(max(0, query - window + 1), query + 1))
        firsts = set(range(min(sinks, query + 1)))
        mask.append([1 if p in in_window | firsts else 0 for p in held])
    return mask
