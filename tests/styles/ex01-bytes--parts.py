def cache_bytes(tokens, layers, kv_heads, head_dim, bytes_per_number):
    one_key = one_value = kv_heads * head_dim * bytes_per_number
    total = 0
    for _ in range(layers):
        total += one_key + one_value
    return total * tokens


def read_floor_ms(weight_bytes, kv_bytes, bytes_per_second):
    return weight_bytes / bytes_per_second * 1e3 + kv_bytes / bytes_per_second * 1e3
