def append(ring, key, value, position):
    rounds, slot = divmod(ring.num_writes, ring.window_size)
    new = {
        "keys": [*key],
        "values": [*value],
        "positions": position,
        "insert_count": ring.num_writes,
    }
    for field, what in new.items():
        getattr(ring, field)[slot] = what
    ring.num_writes += 1
    ring.head = (slot + 1) % ring.window_size
    ring.size = ring.window_size if rounds else slot + 1
    return slot
