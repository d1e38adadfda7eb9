def layer_step(layer, ring, x):
    d, position = layer.head_dim, ring.seen

    def heads_of(weights, count, turn):
        flat = [sum(row[i] * x[i] for i in range(len(x))) for row in weights]
        parts = [np.array(flat[h * d : (h + 1) * d]) for h in range(count)]
        return np.stack([turned(part, position) if turn else part for part in parts])

    k = heads_of(layer.k, layer.kv_heads, True)
    v = heads_of(layer.v, layer.kv_heads, False)
    write(ring, k, v)
    seen = attended(ring, heads_of(layer.q, layer.heads, True))
    return sum(layer.out[:, h * d : (h + 1) * d] @ seen[h] for h in range(layer.heads))
