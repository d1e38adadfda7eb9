import numpy as np


def attend_summaries(q, keys, values, summary_keys, summary_values, counts):
    all_keys = np.concatenate([keys, np.repeat(summary_keys, counts, axis=0)])
    all_values = np.concatenate([values, np.repeat(summary_values, counts, axis=0)])
    scores = all_keys.dot(q) / np.sqrt(q.size)
    weights = np.exp(scores - max(scores))
    return (weights[:, None] * all_values).sum(axis=0) / weights.sum()
