def scored_pairs(n, window=None, sinks=0):
    def total(counted):  # of an arithmetic series
        return len(counted) * (counted[0] + counted[-1]) // 2 if counted else 0

    most = n if window is None else window + sinks
    return total(range(1, min(n, most) + 1)) + max(0, n - most) * most


def work_left(weights, each, n, window, sinks=0):
    def work(pairs):
        return weights * n + each * pairs

    return work(scored_pairs(n, window, sinks)) / work(scored_pairs(n, n))
