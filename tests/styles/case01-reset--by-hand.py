def reset(ring):
    for slot in range(ring.window_size):
        ring.keys[slot] = ring.values[slot] = None
        ring.positions[slot] = ring.insert_count[slot] = -1
    ring.head = ring.size = ring.num_writes = 0
