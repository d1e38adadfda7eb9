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


def read(ring, q):
    newest = ring.positions.max()
    half = q.shape[1] // 2
    spin = np.exp(1j * newest * 10000.0 ** -(np.arange(half) / half))
    query = (q[:, :half] + 1j * q[:, half:]) * spin
    keys = ring.keys[..., :half] + 1j * ring.keys[..., half:]
    dots = np.einsum("hsd,hd->hs", keys, query.conj()).real
    dots[:, ring.positions == -1] = -np.inf
    return dots * (2 * half) ** -0.5
