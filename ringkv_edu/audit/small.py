"""What several experiments of the audit need: drawn numbers, masks, attention with any mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "attention", "gap", "index_mask", "longformer_mask", "normal"]

Array = npt.NDArray[Any]


def normal(seed: int, *shape: int) -> Array:
    """Draw float64 numbers of mean 0 and deviation 1."""
    return np.random.default_rng(seed).normal(size=shape)


def gap(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Give the largest difference of two arrays."""
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def attention(q: Array, keys: Array, values: Array, mask: Array | None = None) -> Array:
    """Softmax attention of one head: ``q`` (n, d), ``keys`` and ``values`` (m, d), ``mask`` (n, m).

    None lets every query see every key.
    """
    scores = q @ keys.T * q.shape[1] ** -0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    out: Array = weights @ values / weights.sum(axis=1, keepdims=True)
    return out


def index_mask(queries: int, keys: int, left: int, right: int) -> Array:
    """Give the mask (queries, keys) of a kernel that counts columns; -1 is no bound.

    The last query stands beside the last key, as in the flash-attention package.
    """
    row = np.arange(queries)[:, None] + keys - queries
    column = np.arange(keys)[None, :]
    above = column >= row - left if left >= 0 else np.full((queries, keys), True)
    below = column <= row + right if right >= 0 else np.full((queries, keys), True)
    mask: Array = above & below
    return mask


def longformer_mask(tokens: int, window: int, many: int) -> Array:
    """Give a window on both sides, and ``many`` first tokens that see all and are seen by all."""
    at = np.arange(tokens)
    near = np.abs(at[:, None] - at) <= window // 2
    mask: Array = near | (at < many) | (at[:, None] < many)
    return mask
