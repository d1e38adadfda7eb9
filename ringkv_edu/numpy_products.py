"""The two products of a decode step in NumPy, over memory that torch made.

For a handful of queries NumPy's matrix product (OpenBLAS, in its wheels) is up to twice as fast as
torch's, as long as one product has few rows: so many rows of keys or values are taken in tiles.

A matrix product reads memory in an order that suits its arithmetic, and where no cache of the
machine holds the keys that order is slow: reading them plainly first, piece by piece, and then
multiplying what the cache now holds takes 0.8 of the time. Where a cache holds them already it
takes 1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["read_ahead", "scores_of", "scores_read_ahead", "values_of"]

Array = npt.NDArray[Any]
TILE = 256  # rows of keys or values in one product
PIECE = 512 * 1024  # bytes of keys that are read ahead at once: half of a usual core's own cache


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


def read_ahead(x: Array) -> None:
    """Read all of ``x`` once, in the order in which it lies, so that a cache holds it."""
    np.bitwise_or.reduce(x.view(f"i{x.itemsize}"), axis=None)


def scores_read_ahead(rows: Array, keys: Array) -> Array:
    """Give what ``scores_of`` gives, each piece of the keys read once before it is multiplied."""
    batch, kv_heads, m, d = keys.shape
    scores = np.empty((*rows.shape[:3], m), rows.dtype)
    piece = max(1, PIECE // (d * keys.itemsize * TILE)) * TILE
    for row in range(batch):
        for head in range(kv_heads):
            one = slice(row, row + 1), slice(head, head + 1)
            for start in range(0, m, piece):
                some = slice(start, start + piece)
                read_ahead(keys[*one, some])
                scores[*one, :, some] = scores_of(rows[one], keys[*one, some])
    return scores


def _tiles(x: Array, axis: int) -> Any:
    """Cut one of the last two axes into tiles, without a copy: (batch, kv_heads, tiles, ., .)."""
    tiles = x.shape[axis] // TILE
    cut = x.reshape(*x.shape[:axis], tiles, TILE, *x.shape[axis + 1 :])
    return cut if axis == 2 else cut.swapaxes(2, 3)
