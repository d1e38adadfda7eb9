def decode_step(rows, q, k, v):
    put(rows, k, v)
    heads, kv_heads = q.shape[1], k.shape[1]
    mask = newest_sees(rows)
    outs = []
    for head in range(heads):
        keys, values = (x[:, head * kv_heads // heads] for x in (rows.keys, rows.values))
        scores = (keys @ q[:, head, :, None])[..., 0] / q.shape[2] ** 0.5
        parts = torch.exp(scores - scores.max(1, keepdim=True).values) * mask
        parts = parts / parts.sum(1, keepdim=True)
        outs.append((parts[:, None] @ values)[:, 0])
    return torch.stack(outs, dim=1)
