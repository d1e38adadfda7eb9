def trim(cache, n):
    n = min(n, cache.offset)
    left = cache.offset - n
    oldest_needed, oldest_held = (
        max(0, left - cache.max_size),
        max(0, cache.offset - cache.max_size),
    )
    if left and oldest_needed < oldest_held:
        return 0
    cache.offset = left
    cache.index = left % cache.max_size
    return n
