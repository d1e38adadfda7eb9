def scored_pairs(n, window=None, sinks=0):
    if window is None or n <= window + sinks:
        return n * (n + 1) // 2
    reach = window + sinks  # the first queries see all; each later one sees as many as these two
    return reach * (reach + 1) // 2 + (n - reach) * reach


def work_left(weights, each, n, window, sinks=0):
    saved = each * (scored_pairs(n) - scored_pairs(n, window, sinks))
    return 1 - saved / (n * weights + each * scored_pairs(n))
