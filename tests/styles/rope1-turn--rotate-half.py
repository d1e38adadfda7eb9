import numpy as np


def rotate(x, position, base=10000.0):
    inv_freq = 1.0 / base ** (np.arange(0, x.size, 2) / x.size)
    angle = np.tile(position * inv_freq, 2)
    low, high = np.split(x, 2)
    return x * np.cos(angle) + np.concatenate((-high, low)) * np.sin(angle)
