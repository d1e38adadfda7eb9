def latency_gain(weights, token, window, tokens, batch):
    def read(n):
        return weights + batch * token * n

    return read(tokens) / read(window) if tokens > window else 1


def throughput_gain(weights, token, window, tokens, left):
    def rate(held):
        requests = int(left / (token * held))
        return requests / (weights + requests * token * held)

    held = tokens if tokens < window else window
    return rate(held) / rate(tokens) if token * tokens <= left else None


def first_length(weights, token, window, wanted, batch, most):
    low, high = 0, most
    if latency_gain(weights, token, window, most, batch) < wanted:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if latency_gain(weights, token, window, middle, batch) >= wanted:
            high = middle
        else:
            low = middle
    return high
