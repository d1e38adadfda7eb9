import numpy as np


def planned_bytes(shape, tokens, batch=1, sinks=0, slack=0, number=2):
    rings = np.array([w for w in shape.windows if w is not None], dtype=np.int64)
    held = np.minimum(tokens, rings + sinks + slack).sum()
    held += tokens * (len(shape.windows) - len(rings))
    return np.prod([2, shape.kv_heads, shape.head_dim]) * batch * number * held
