def reset(ring):
    ring.__init__(ring.window_size)
