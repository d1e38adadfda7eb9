import numpy as np


def attend(query, entries):
    if not entries:
        return None
    keys = np.array([entry.key for entry in entries])
    values = np.array([entry.value for entry in entries])
    scores = keys @ np.array(query) / np.sqrt(len(query))
    weights = np.exp(scores - scores.max())
    return weights / weights.sum() @ values
