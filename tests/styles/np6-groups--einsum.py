def attend_groups(q, keys, values, mask):
    folded = q.reshape(len(keys), len(q) // len(keys), -1)
    scores = np.einsum("kgd,ksd->kgs", folded, keys) / q.shape[-1] ** 0.5
    scores[..., ~mask] = -1e30
    weights = np.exp(scores - np.max(scores, axis=2, keepdims=True))
    out = np.einsum("kgs,ksd->kgd", weights, values) / weights.sum(axis=2)[..., None]
    return out.reshape(len(q), -1)
