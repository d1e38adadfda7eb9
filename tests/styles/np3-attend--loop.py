from math import exp, sqrt


def attend_full(q, keys, values):
    scores = [sum(float(a) * float(b) for a, b in zip(q, key)) / sqrt(len(q)) for key in keys]
    weights = [exp(score - max(scores)) for score in scores]
    total = sum(weights)
    return [sum(w * row[i] for w, row in zip(weights, values)) / total for i in range(len(q))]
