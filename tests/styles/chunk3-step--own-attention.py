import math

import numpy as np

from ringkv_edu.given_chunks import place


def step(ring, q, k, v):
    heads, n, d = q.shape
    group = heads // k.shape[0]
    keys = np.repeat(np.concatenate([ring.keys, k], axis=1), group, axis=0)
    values = np.repeat(np.concatenate([ring.values, v], axis=1), group, axis=0)
    query = np.arange(ring.seen, ring.seen + n)[:, None]
    key = np.concatenate([ring.positions, query[:, 0]])
    sees = (key >= 0) & (key <= query) & ((key > query - ring.window) | (key < ring.sinks))
    scores = np.einsum("hnd,hmd->hnm", q, keys) / math.sqrt(d)
    weights = np.exp(np.where(sees, scores, -np.inf))
    place(ring, k, v)
    return np.einsum("hnm,hmd->hnd", weights / weights.sum(-1, keepdims=True), values)
