"""Attention for several queries at once: what lesson 03 starts from. Graded runs may read it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["attend_at", "attention"]

Array = npt.NDArray[Any]


def attention(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    """Give what n queries see of m stored tokens, as (heads, n, d) float64.

    ``q`` (heads, n, d); ``keys``, ``values`` (kv_heads, m, d), ``heads`` a multiple of
    ``kv_heads``; ``mask`` (n, m), True where the key of that column is seen. A row of the mask
    without a True gives NaN: 0 divided by 0.
    """
    group = len(q) // len(keys)  # query heads that share one key/value head
    out = np.empty_like(q)
    with np.errstate(invalid="ignore"):
        for head in range(len(q)):
            scores = q[head] @ keys[head // group].T / math.sqrt(q.shape[2])
            scores = np.where(mask, scores, -np.inf)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            out[head] = weights @ values[head // group]
    return out


def attend_at(
    asked_from: Any, q: Array, held: Any, keys: Array, values: Array, window: int, sinks: int
) -> Array:
    """Let the rows of ``q`` attend to keys by their positions; the keys may lie in any order.

    ``asked_from`` (n,) are the positions of the queries ``q`` (heads, n, d); ``held`` (m,) those
    of ``keys`` and ``values`` (kv_heads, m, d), -1 where there is none. Gives (heads, n, d).
    """
    query, key = np.asarray(asked_from)[:, None], np.asarray(held)[None, :]
    if query.shape[0] != q.shape[1] or key.shape[1] != keys.shape[1]:
        raise ValueError(
            f"{query.shape[0]} positions for {q.shape[1]} queries, {key.shape[1]} for "
            f"{keys.shape[1]} keys; give one position for each"
        )
    stored = (key >= 0) & (key <= query)
    return attention(q, keys, values, stored & ((query - key < window) | (key < sinks)))
