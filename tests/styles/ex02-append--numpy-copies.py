import numpy as np


def append(ring, key, value, position):
    slot = ring.num_writes % ring.window_size
    ring.keys[slot] = np.array(key)
    ring.values[slot] = tuple(value)
    ring.positions[slot], ring.insert_count[slot] = position, ring.num_writes
    ring.num_writes += 1
    ring.head = ring.num_writes % ring.window_size
    ring.size = min(ring.num_writes, ring.window_size)
    return slot
