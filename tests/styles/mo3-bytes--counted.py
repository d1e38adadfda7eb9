def held_bytes(windows, tokens, kv_heads, head_dim, number):
    rings = [window for window in windows if window]
    globals_ = len(windows) - len(rings)
    shape = np.array([2, kv_heads, head_dim, number])
    return np.prod(shape) * (np.sum(rings) + globals_ * tokens)
