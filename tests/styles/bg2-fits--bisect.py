from bisect import bisect_right


def room(memory, unit, weights, use):
    if unit == "GiB":
        memory *= 1024**3
    else:
        memory *= 1000**3
    left = use * memory - weights
    return left if left > 0 else 0


def most_requests(left, cache, tokens):
    return left // cache(tokens)


def longest_context(left, cache, requests, most):
    lengths = range(1, most + 1)
    return bisect_right(lengths, left, key=lambda n: requests * cache(n))
