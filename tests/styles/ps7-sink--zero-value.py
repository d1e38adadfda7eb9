import math


def attend_sink(q, keys, values, sink):
    scores = [sum(x * y for x, y in zip(q, key)) / math.sqrt(len(q)) for key in keys] + [sink]
    rows = [list(value) for value in values] + [[0.0] * len(q)]
    weights = [math.exp(score - max(scores)) for score in scores]
    return [sum(w * row[i] for w, row in zip(weights, rows)) / sum(weights) for i in range(len(q))]
