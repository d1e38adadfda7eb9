weights, token = SEVEN.weights, 512 * KIB
full, ring = 16384 * token, 1024 * token
latency, latency_of_8 = (round((weights + b * full) / (weights + b * ring), 1) for b in (1, 8))
throughput = 16
