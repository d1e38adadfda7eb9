import numpy as np


def fold_tile(state, scores, values):
    old = state[0]
    both = np.concatenate([old[:, None], scores], axis=1)
    top = both.max(axis=1)
    seen = top > -np.inf
    total, out = state[1].copy(), state[2].copy()
    factors = np.exp(both[seen] - top[seen, None])
    total[seen] = factors[:, 0] * total[seen] + factors[:, 1:].sum(axis=1)
    out[seen] = factors[:, :1] * out[seen] + np.einsum("rm,md->rd", factors[:, 1:], values)
    return top, total, out
