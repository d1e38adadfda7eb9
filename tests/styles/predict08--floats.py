latency = 1.6
throughput = 16.0
latency_of_8 = 46 / 10
