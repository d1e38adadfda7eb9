def room(memory, unit, weights, use):
    power = {"GB": (10, 9), "GiB": (2, 30)}
    base, exponent = power[unit]
    if memory * base**exponent * use <= weights:
        return 0
    return memory * base**exponent * use - weights


def most_requests(left, cache, tokens):
    count = 0
    while (count + 1) * cache(tokens) <= left:
        count += 1
    return count


def longest_context(left, cache, requests, most):
    # by powers of two, from the largest down: each that still fits is added
    each, tokens = left / requests, 0
    for power in reversed(range(most.bit_length())):
        longer = tokens + 2**power
        if longer <= most and cache(longer) <= each:
            tokens = longer
    return tokens
