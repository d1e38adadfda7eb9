def cache_bytes(tokens, layers, kv_heads, head_dim, bytes_per_number):
    total = 0
    for _ in range(tokens):
        for _ in range(layers):
            for _ in range(kv_heads):
                total += head_dim * bytes_per_number  # a key
                total += head_dim * bytes_per_number  # a value
    return total


def read_floor_ms(weight_bytes, kv_bytes, bytes_per_second):
    return 1e3 * (weight_bytes + kv_bytes) / bytes_per_second
