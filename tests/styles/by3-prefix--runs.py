def prefix_hit(held, size, window):
    run, best = 0, 0
    for block, there in enumerate(held):
        run = run + 1 if there else 0
        length = (block + 1) * size
        needed = length if window is None else min(length, window - 1)
        if run * size >= needed:
            best = length
    return best


def hybrid_hit(everything, sliding, size, window):
    limit = prefix_hit(everything, size, None)
    return prefix_hit(sliding[: limit // size], size, window)
