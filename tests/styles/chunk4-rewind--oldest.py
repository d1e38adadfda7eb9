def rewind(ring, n):
    length = ring.seen - n
    rolling = [int(p) for p in ring.positions if p >= ring.sinks]
    oldest = min(rolling, default=ring.sinks)
    if max(length - ring.window, ring.sinks) < oldest and length > ring.sinks:
        raise ValueError("gone")
    for slot in range(ring.slots):
        if ring.positions[slot] >= length:
            ring.keys[:, slot, :] = 0.0
            ring.values[:, slot, :] = 0.0
            ring.positions[slot] = -1
    ring.seen -= n
