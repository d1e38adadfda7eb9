from bisect import bisect_left


def latency_gain(weights, token, window, tokens, batch):
    with_window = weights / batch + token * min(tokens, window)
    without = weights / batch + token * tokens
    return without / with_window


def throughput_gain(weights, token, window, tokens, left):
    seconds = []
    for n in (tokens, min(window, tokens)):
        fits = left // (n * token)
        if not fits:
            return
        seconds.append(weights / fits + token * n)  # of one request's share of a step
    return seconds[0] / seconds[1]


def first_length(weights, token, window, wanted, batch, most):
    lengths = range(1, most + 1)
    short = weights + batch * token * window
    place = bisect_left(lengths, wanted * short, key=lambda n: weights + batch * token * n)
    return lengths[place] if place < most else None
