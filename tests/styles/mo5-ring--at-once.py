class MyModelRing:
    def __init__(self, window, kv_heads, head_dim, sinks=0):
        self.window, self.sinks, self.seen = window, sinks, 0
        self.keys = np.zeros((kv_heads, sinks + window, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.positions = np.full(sinks + window, -1)

    def append(self, k, v):
        new = np.arange(self.seen, self.seen + k.shape[1])
        stays = (new < self.sinks) | (new >= max(self.sinks, new[-1] + 1 - self.window))
        new = new[stays]
        slots = np.where(new < self.sinks, new, self.sinks + (new - self.sinks) % self.window)
        self.keys[:, slots], self.values[:, slots] = k[:, stays], v[:, stays]
        self.positions[slots] = new
        self.seen += k.shape[1]
