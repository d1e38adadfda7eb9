def held_bytes(windows, tokens, kv_heads, head_dim, number):
    total = 0
    for window in windows:
        slots = window if window is not None else tokens
        for _ in ("keys", "values"):
            total += slots * kv_heads * head_dim * number
    return total
