def step_seconds(weights, token, window, lengths, bandwidth):
    if window is None:
        window = max(lengths)
    seconds = weights / bandwidth
    for n in lengths:
        seconds += token * min(window, n) / bandwidth
    return seconds


def tokens_a_second(weights, token, window, lengths, bandwidth):
    step = step_seconds(weights, token, window, lengths, bandwidth)
    return sum(1 / step for _ in lengths)
