class MyModelRing:
    def __init__(self, window, kv_heads, head_dim, sinks=0):
        slots = sinks + window
        self.window, self.sinks, self.seen = window, sinks, 0
        self.keys = np.zeros((kv_heads, slots, head_dim), np.float32)
        self.values = np.zeros((kv_heads, slots, head_dim), np.float32)
        self.positions = np.full(slots, -1)

    def append(self, k, v):
        for key, value in zip(k.swapaxes(0, 1), v.swapaxes(0, 1)):
            slot = self.seen
            if slot >= self.sinks:  # the ring may begin anywhere behind the sinks
                slot = self.sinks + self.seen % self.window
            self.keys[:, slot] = key
            self.values[:, slot] = value
            self.positions[slot] = self.seen
            self.seen = self.seen + 1
