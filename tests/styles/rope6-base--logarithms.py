import math


def ntk_base(base, stretch, head_dim):
    slowest = base ** (-(head_dim - 2) / head_dim)  # radians a token
    wanted = slowest / stretch
    return math.exp(-math.log(wanted) * head_dim / (head_dim - 2))


def farthest(tokens, window):
    seen_by_the_last = [p for p in range(max(0, tokens - window), tokens)]
    return seen_by_the_last[-1] - seen_by_the_last[0]
