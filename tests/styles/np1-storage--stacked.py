def make_storage(window, kv_heads, head_dim):
    keys = np.array([[[0.0] * head_dim for _ in range(window)] for _ in range(kv_heads)])
    return keys, keys.copy(), np.array([-1 for _ in range(window)])
