def slide_in(cache, k, v):
    if cache.positions[-1] >= 0:  # the last place is taken
        for memory in (cache.keys, cache.values):
            memory[:, :-1] = memory[:, 1:].copy()
        cache.positions[:-1] = cache.positions[1:].copy()
        place = cache.slots - 1
    else:
        place = np.flatnonzero(cache.positions < 0)[0]
    cache.keys[:, place], cache.values[:, place] = k, v
    cache.positions[place] = cache.seen
    cache.seen += 1
