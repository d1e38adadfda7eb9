"""The two products of a decode step in NumPy, over memory that torch made.

For a handful of queries NumPy's matrix product (OpenBLAS, in its wheels) is up to twice as fast as
torch's, as long as one product has few rows: so many rows of keys or values are taken in tiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["scores_of", "values_of"]

Array = npt.NDArray[Any]
TILE = 256  # rows of keys or values in one product


def scores_of(rows: Array, keys: Array) -> Array:
    """Multiply ``rows`` (batch, kv_heads, group, d) by ``keys`` (batch, kv_heads, m, d).

    The result is (batch, kv_heads, group, m); no key is copied.
    """
    m = keys.shape[2]
    across = keys.swapaxes(2, 3)
    if m <= TILE:
        return np.matmul(rows, across)  # type: ignore[no-any-return]
    scores = np.empty((*rows.shape[:3], m), rows.dtype)
    whole = m - m % TILE
    if whole < m:
        np.matmul(rows, across[..., whole:], out=scores[..., whole:])
    tiles = _tiles(across[..., :whole], 3)
    np.matmul(rows[:, :, None], tiles, out=_tiles(scores[..., :whole], 3))
    return scores


def values_of(weights: Array, values: Array) -> Array:
    """Sum ``values`` (batch, kv_heads, m, d) by ``weights`` (batch, kv_heads, group, m)."""
    m = values.shape[2]
    if m <= TILE:
        return np.matmul(weights, values)  # type: ignore[no-any-return]
    whole = m - m % TILE
    heavy, tiles = _tiles(weights[..., :whole], 3), _tiles(values[:, :, :whole], 2)
    total: Array = np.matmul(heavy, tiles).sum(2)
    if whole < m:
        total += np.matmul(weights[..., whole:], values[:, :, whole:])
    return total


def _tiles(x: Array, axis: int) -> Any:
    """Cut one of the last two axes into tiles, without a copy: (batch, kv_heads, tiles, ., .)."""
    tiles = x.shape[axis] // TILE
    cut = x.reshape(*x.shape[:axis], tiles, TILE, *x.shape[axis + 1 :])
    return cut if axis == 2 else cut.swapaxes(2, 3)
