def make_storage(window, kv_heads, head_dim):
    keys, values = np.empty((kv_heads, window, head_dim)), np.empty((kv_heads, window, head_dim))
    keys[...], values[...] = 0, 0
    positions = np.empty(window, dtype=np.int32)
    positions[:] = -1
    return [keys, values, positions]
