import numpy as np


def rotate(x, position, base=10000.0):
    d = len(x)
    matrix = np.zeros((d, d))
    for i, j in zip(range(d // 2), range(d // 2, d)):
        t = position * np.exp(-2 * i / d * np.log(base))
        matrix[i, i] = matrix[j, j] = np.cos(t)
        matrix[i, j], matrix[j, i] = -np.sin(t), np.sin(t)
    return matrix @ x
