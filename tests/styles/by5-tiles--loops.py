import math

import numpy as np


def fold_tile(state, scores, values):
    top, total, out = (part.copy() for part in state)
    for row in range(len(top)):
        for score, value in zip(scores[row], values):
            if score == -math.inf:
                continue
            if score > top[row]:
                shrink = math.exp(top[row] - score)
                total[row], out[row], top[row] = total[row] * shrink, out[row] * shrink, score
            weight = math.exp(score - top[row])
            total[row] += weight
            out[row] += weight * np.asarray(value)
    return top, total, out
