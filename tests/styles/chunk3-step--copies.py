import copy

from ringkv_edu.given_attention import attend_at
from ringkv_edu.given_chunks import place


def step(ring, q, k, v):
    before = copy.deepcopy(ring)
    place(ring, k, v)
    new = list(range(before.seen, ring.seen))
    keys, values = (
        [list(head_old) + list(head_new) for head_old, head_new in zip(old, chunk)]
        for old, chunk in ((before.keys, k), (before.values, v))
    )
    import numpy as np

    held = [*before.positions, *new]
    return attend_at(new, q, held, np.array(keys), np.array(values), ring.window, ring.sinks)
