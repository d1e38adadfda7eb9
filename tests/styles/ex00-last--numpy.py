import numpy as np


def last(tokens, window):
    return np.array(tokens)[-window:]
