def append(ring, key, value, position):
    slot = ring.head
    ring.keys[slot] = key[:]
    ring.values[slot] = value[:]
    ring.positions[slot] = position
    ring.insert_count[slot] = ring.num_writes
    ring.num_writes = ring.num_writes + 1
    ring.head = slot + 1 if slot + 1 < ring.window_size else 0
    if ring.size < ring.window_size:
        ring.size += 1
    return slot
