def step_seconds(weights, token, window, lengths, bandwidth):
    caches = [len(range(n)[-window:] if window else range(n)) * token for n in lengths]
    return sum([weights, *caches]) / bandwidth


def tokens_a_second(*sizes):
    return len(sizes[3]) / step_seconds(*sizes)
