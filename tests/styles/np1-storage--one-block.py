def make_storage(window, kv_heads, head_dim):
    keys, values = np.zeros([2, kv_heads, window, head_dim])
    return keys, values, -np.ones(window, dtype=int)
