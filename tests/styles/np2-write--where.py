def write(ring, k, v):
    here = np.arange(ring.window) == ring.seen % ring.window
    np.copyto(ring.keys, k[:, None], where=here[None, :, None])
    np.copyto(ring.values, v[:, None], where=here[None, :, None])
    np.putmask(ring.positions, here, ring.seen)
    ring.seen += 1
