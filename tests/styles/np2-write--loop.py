def write(ring, k, v):
    _, slot = divmod(ring.seen, ring.window)
    for head in range(len(k)):
        for lane in range(len(k[head])):
            ring.keys[head, slot, lane] = k[head][lane]
            ring.values[head, slot, lane] = v[head][lane]
    ring.positions[slot] = ring.seen
    ring.seen = ring.seen + 1
    return ring
