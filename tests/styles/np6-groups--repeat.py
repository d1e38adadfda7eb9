def attend_groups(q, keys, values, mask):
    group = len(q) // len(keys)
    keys, values = (
        np.repeat(keys, group, axis=0)[:, mask],
        np.repeat(values, group, axis=0)[:, mask],
    )
    scores = (q[:, None] * keys).sum(axis=-1) / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1)[:, None])
    return (weights[:, :, None] * values).sum(axis=1) / weights.sum(axis=1)[:, None]
