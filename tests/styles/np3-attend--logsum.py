def attend_full(q, keys, values):
    scores = (keys * (q / np.sqrt(q.size))).sum(axis=1)
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    return (weights[:, None] * values).sum(axis=0)
