import numpy as np


def reset(ring):
    empty = [None for _ in range(ring.window_size)]
    ring.num_writes = ring.size = ring.head = 0
    ring.insert_count = np.full(ring.window_size, -1)
    ring.positions = np.full(ring.window_size, -1)
    ring.values = empty[:]
    ring.keys = empty[:]
