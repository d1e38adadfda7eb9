def layer_step(layer, ring, x):
    split = {name: getattr(layer, name).reshape(-1, layer.head_dim, len(x)) for name in "qkv"}
    q, k, v = (np.einsum("hdx,x->hd", split[name], x) for name in "qkv")
    write(ring, turned(k, ring.seen), v)
    position = ring.seen - 1  # which the token just written has
    out = layer.out.reshape(len(x), layer.heads, layer.head_dim)
    return np.einsum("xhd,hd->x", out, attended(ring, turned(q, position)))
