def layer_step(layer, ring, x):
    heads, kv_heads, d = layer.heads, layer.kv_heads, layer.head_dim
    at = int(ring.positions.max()) + 1
    flat = np.concatenate([layer.q, layer.k, layer.v]) @ x
    parts = flat.reshape(heads + 2 * kv_heads, d)
    parts[: heads + kv_heads] = turned(parts[: heads + kv_heads], at)
    q, k, v = np.split(parts, [heads, heads + kv_heads])
    write(ring, k, v)
    return np.concatenate(list(attended(ring, q))) @ layer.out.T
