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
