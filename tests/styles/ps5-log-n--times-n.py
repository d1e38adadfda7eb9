import math


def attend_summaries(q, keys, values, summary_keys, summary_values, counts):
    rows = [(k, v, 1) for k, v in zip(keys, values)]
    rows += [(k, v, int(n)) for k, v, n in zip(summary_keys, summary_values, counts) if n]
    scores = [sum(a * b for a, b in zip(q, k)) / math.sqrt(len(q)) for k, _, _ in rows]
    top = max(scores)
    weights = [n * math.exp(score - top) for score, (_, _, n) in zip(scores, rows)]
    total = sum(weights)
    return [sum(w * v[i] for w, (_, v, _) in zip(weights, rows)) / total for i in range(len(q))]
