import numpy as np


def step_seconds(weights, token, window, lengths, bandwidth):
    held = np.minimum(lengths, np.inf if window is None else window)
    return (weights + (token * held).sum()) / bandwidth


def tokens_a_second(weights, token, window, lengths, bandwidth):
    held = np.minimum(lengths, np.inf if window is None else window)
    return np.size(lengths) * bandwidth / (weights + token * held.sum())
