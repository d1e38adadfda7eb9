def trim(cache, n):
    if n >= cache.offset:
        taken = cache.offset
        cache.__init__(cache.max_size)
        return taken
    wrapped = cache.offset > cache.max_size
    if not wrapped:
        cache.offset -= n
        cache.index -= n
    return 0 if wrapped else n
