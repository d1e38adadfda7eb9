import math


def cache_bytes(*sizes):
    return 2.0 * math.prod(sizes)


def read_floor_ms(weight_bytes, kv_bytes, bytes_per_second):
    bytes_per_ms = bytes_per_second / 1000
    return (kv_bytes + weight_bytes) / bytes_per_ms
