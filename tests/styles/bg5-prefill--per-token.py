def sums(last):
    return last * (last + 1) / 2


def scored_pairs(n, window=None, sinks=0):
    return sums(n) - (sums(n - window - sinks) if window and n > window + sinks else 0)


def work_left(weights, each, n, window, sinks=0):
    a_token = [weights + each * scored_pairs(n, *w) / n for w in ((window, sinks), ())]
    return a_token[0] / a_token[1]
