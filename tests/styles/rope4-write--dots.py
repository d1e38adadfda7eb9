import numpy as np


def write(ring, k, v):
    half = k.shape[1] // 2
    angle = ring.seen * 10000.0 ** -(np.arange(half) / half)
    a, b = k[:, :half], k[:, half:]
    turned_k = np.concatenate(
        [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=1
    )
    s = np.mod(ring.seen, ring.window)
    ring.keys[..., s, :], ring.values[..., s, :] = turned_k, v.copy()
    ring.positions = np.where(np.arange(ring.slots) == s, ring.seen, ring.positions)
    ring.seen = ring.seen + 1
    return s
