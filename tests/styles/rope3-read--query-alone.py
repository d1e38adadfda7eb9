def scores(q, keys, positions):
    out = []
    for key, position in zip(keys, positions):
        if position < 0:
            out.append(float("-inf"))
            continue
        out.append((turned(q, max(positions) - position) * key).sum() * len(key) ** -0.5)
    return out
