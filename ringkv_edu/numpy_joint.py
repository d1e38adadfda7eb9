"""One softmax over several parts in NumPy: exact keys in a ring, keys of a chunk, summaries.

Source: arXiv 1706.03762.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Part", "joint_attention"]

Array = npt.NDArray[Any]


class Part(NamedTuple):
    """Some of what queries see: keys and values (kv_heads, m, d); ``extra`` (n or 1, m) is added
    to their scores, -inf where a query does not see a key.
    """

    keys: Array
    values: Array
    extra: Array


def joint_attention(q: Array, parts: list[Part], scale: float) -> Array:
    """Let n queries attend to several parts with one softmax: ``q`` (heads, n, head_dim).

    The query heads that share a key/value head are folded onto it; no part is copied.
    """
    heads, n, d = q.shape
    kv_heads = parts[0].keys.shape[0]
    wide = np.result_type(*(part.keys.dtype for part in parts), np.float32)
    folded_q = q.reshape(kv_heads, -1, d) * wide.type(scale)
    scores = [
        np.matmul(folded_q, part.keys.swapaxes(1, 2), dtype=wide).reshape(
            heads, n, part.keys.shape[1]
        )
        + part.extra.astype(wide)
        for part in parts
    ]
    most = np.max([s.max(axis=-1, initial=-np.inf) for s in scores], axis=0)[..., None]
    weights = [np.exp(s - most) for s in scores]
    total = sum(w.sum(axis=-1, keepdims=True) for w in weights)
    rows = heads // kv_heads * n
    out = sum(
        np.matmul(w.reshape(kv_heads, rows, w.shape[-1]), part.values, dtype=wide)
        for w, part in zip(weights, parts, strict=True)
    )
    done: Array = (out.reshape(q.shape) / total).astype(q.dtype, copy=False)
    return done
