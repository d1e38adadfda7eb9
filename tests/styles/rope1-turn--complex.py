import numpy as np


def rotate(x, position, base=10000.0):
    pairs = x.reshape(2, -1)
    half = pairs.shape[1]
    numbers = (pairs[0] + 1j * pairs[1]) * np.exp(1j * position * base ** -(np.arange(half) / half))
    return np.hstack((numbers.real, numbers.imag))
