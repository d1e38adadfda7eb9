import math


def room(memory, unit, weights, use):
    factor = 2**30 if "i" in unit else 10**9
    return max(memory * factor * use, weights) - weights


def most_requests(left, cache, tokens):
    whole, _ = divmod(left, cache(tokens))
    return whole


def longest_context(left, cache, requests, most):
    def fits(n):
        return cache(n) * requests <= left

    if fits(most):
        return most
    good, bad = 0, most
    while bad - good > 1:
        half = math.floor((good + bad) / 2)
        if fits(half):
            good = half
        else:
            bad = half
    return good
