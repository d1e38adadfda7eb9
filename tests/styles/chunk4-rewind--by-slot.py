def rewind(ring, n):
    def slot(position):
        if position < ring.sinks:
            return position
        return ring.sinks + (position - ring.sinks) % (ring.window + ring.slack)

    m = ring.seen - n
    for position in range(max(0, m - ring.window), m):
        if ring.positions[slot(position)] != position:
            raise ValueError(f"{position} has been overwritten")
    while ring.seen > m:
        ring.seen -= 1
        at = slot(ring.seen)
        if ring.positions[at] == ring.seen:
            ring.keys[:, at] = ring.values[:, at] = 0
            ring.positions[at] = -1
