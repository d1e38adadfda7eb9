def planned_bytes(shape, tokens, batch=1, sinks=0, slack=0, number=2):
    total = 0
    for _ in range(batch):
        for window in shape.windows:
            slots = tokens
            if window is not None and tokens > sinks + window + slack:
                slots = sinks + window + slack
            for _ in ("key", "value"):
                total += slots * shape.kv_heads * shape.head_dim * number
    return total
