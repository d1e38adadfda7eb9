def slide_in(cache, k, v):
    place = cache.seen
    if place == cache.slots or place > cache.slots:
        cache.keys = np.roll(cache.keys, -1, axis=1)
        cache.values = np.roll(cache.values, -1, axis=1)
        cache.positions = np.roll(cache.positions, -1)
        place = -1
    cache.keys[:, place] = k
    cache.values[:, place] = v
    cache.positions[place] = cache.seen
    cache.seen += 1
