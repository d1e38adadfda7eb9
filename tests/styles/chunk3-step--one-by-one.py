import numpy as np

from ringkv_edu.given_attention import attend_at
from ringkv_edu.given_chunks import place


def step(ring, q, k, v):
    rows = []
    for token in range(q.shape[1]):
        one = slice(token, token + 1)
        place(ring, k[:, one], v[:, one])
        memory = ring.positions, ring.keys, ring.values, ring.window, ring.sinks
        rows.append(attend_at([ring.seen - 1], q[:, one], *memory))
    return np.concatenate(rows, axis=1)
