import math


def attend_seen(q, keys, values, positions, query_position, window):
    slots = [s for s, p in enumerate(positions) if p != -1 and 0 <= query_position - p < window]
    scores = [math.fsum(q * keys[s]) / len(q) ** 0.5 for s in slots]
    weights = [math.exp(score - max(scores)) for score in scores]
    return sum(w * values[s] for w, s in zip(weights, slots)) / sum(weights)
