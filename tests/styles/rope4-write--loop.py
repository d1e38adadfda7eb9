def write(ring, k, v):
    position = ring.seen
    ring.seen = position + 1
    slot = position
    while slot >= ring.window:
        slot -= ring.window
    for head in range(len(k)):
        ring.keys[head, slot] = turned(k[head], position)
        ring.values[head][slot] = v[head]
    ring.positions[slot] = position


def read(ring, q):
    rows = []
    for head, query in enumerate(q):
        query = turned(query, int(ring.seen) - 1)
        rows.append([])
        for slot, key in enumerate(ring.keys[head]):
            filled = slot < ring.seen
            rows[-1].append(float(query @ key) / len(key) ** 0.5 if filled else float("-inf"))
    return rows
