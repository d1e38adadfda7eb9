from fractions import Fraction as F


def latency_gain(weights, token, window, tokens, batch):
    ring = min(window, tokens)
    return float(1 + F(batch * token * (tokens - ring), weights + batch * token * ring))


def throughput_gain(weights, token, window, tokens, left):
    before, after = left // (token * tokens), left // (token * min(window, tokens))
    if before < 1:
        return None
    # requests over bytes, after against before, as one product
    step_before = weights + before * token * tokens
    step_after = weights + after * token * min(window, tokens)
    return after * step_before / (before * step_after)


def first_length(weights, token, window, wanted, batch, most):
    exact = F(wanted) * window + (F(wanted) - 1) * F(weights, batch * token)
    whole = exact.numerator // exact.denominator
    found = whole + (exact != whole)
    return found if found <= most else None
