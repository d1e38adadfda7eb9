import numpy as np


def ntk_base(base, stretch, head_dim):
    half = head_dim / 2
    return np.float64(base) * np.power(stretch, half / (half - 1))


def farthest(tokens, window):
    return np.minimum(tokens - 1, window - 1)
