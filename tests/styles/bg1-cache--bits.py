def planned_bytes(shape, tokens, batch=1, sinks=0, slack=0, number=2):
    entry_bits = int(8 * number) * 2 * shape.kv_heads * shape.head_dim
    unlimited = float("inf")
    bits = 0
    for window in shape.windows:
        capacity = unlimited if window is None else sinks + slack + window
        bits += entry_bits * min(capacity, tokens)
    return bits * batch / 8
