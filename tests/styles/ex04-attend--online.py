from math import exp, inf


def attend(query, entries):
    if len(entries) == 0:
        return None
    top, total, out = -inf, 0.0, [0.0] * len(entries[0].value)
    for entry in entries:  # one pass with a running maximum, as tiled kernels do
        score = sum(q * k for q, k in zip(query, entry.key)) / len(query) ** 0.5
        new_top = max(top, score)
        fade, weight = exp(top - new_top), exp(score - new_top)
        total = total * fade + weight
        out = [x * fade + weight * v for x, v in zip(out, entry.value)]
        top = new_top
    return [x / total for x in out]
