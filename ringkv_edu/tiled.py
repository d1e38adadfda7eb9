"""Attention tile by tile: one pass over the keys, no row of scores ever whole.

Each query keeps a running maximum, a running sum of weights and a running output; a new tile of
keys rescales them by ``exp(old maximum - new maximum)``. The result is the plain softmax's,
rounding apart. The extra memory grows with the queries, not with their square; the arithmetic does
not get less (source audit C7, C9). Tiles that no query of theirs sees are skipped, which is what
makes a sliding window cheap in a prefill.

Source: online softmax (arXiv 1805.02867), FlashAttention (arXiv 2205.14135); system S27.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .visibility import visibility_mask

__all__ = ["State", "Work", "fold", "shared_tiles", "start", "tiled_attention"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Work:
    """What a tiled pass did: tiles computed of all, and the most numbers that it held at a time."""

    computed: int
    tiles: int
    held: int


def tiled_attention(
    q: Array, k: Array, v: Array, window: int | None = None, sinks: int = 0,
    tile: tuple[int, int] = (64, 64), scale: float | None = None,
) -> tuple[Array, Work]:  # fmt: skip
    """Attend in tiles of ``tile`` queries by keys.

    ``q`` is (heads, n, d), ``k`` and ``v`` are (kv_heads, n, d). ``window`` None is causal
    attention. Gives (heads, n, d) in float64, and the work.
    Raises ``ValueError`` for shapes or tiles that cannot be.
    """
    heads, n, d = q.shape
    if k.shape != v.shape or k.shape[1:] != (n, d) or heads % k.shape[0]:
        raise ValueError(f"q is {q.shape}, k {k.shape}, v {v.shape}: give heads that share keys")
    rows, columns = tile
    if rows < 1 or columns < 1:
        raise ValueError(f"tile is {tile}; give two numbers of 1 or more")
    factor = d**-0.5 if scale is None else scale
    group = heads // k.shape[0]
    key, value = (np.repeat(x.astype(np.float64), group, axis=0) for x in (k, v))
    out = np.empty((heads, n, d))
    computed = tiles = 0
    for top in range(0, n, rows):
        query = np.arange(top, min(top + rows, n))
        state = start(heads, len(query), d)
        for left in range(0, n, columns):
            tiles += 1
            near = np.arange(left, min(left + columns, n))
            mask = visibility_mask(query, near, window or n, sinks)
            if mask.any():
                computed += 1
                scores = factor * q[:, query].astype(np.float64) @ key[:, near].swapaxes(1, 2)
                state = fold(state, np.where(mask, scores, -np.inf), value[:, near])
        out[:, query] = state[2] / state[1]
    held = heads * rows * (columns + 2 + d)
    return out, Work(computed, tiles, held)


State = tuple[Array, Array, Array]  # maximum and sum of weights (heads, rows, 1), output


def start(heads: int, rows: int, d: int) -> State:
    """Give the state of queries that have seen nothing yet."""
    return (
        np.full((heads, rows, 1), -np.inf),
        np.zeros((heads, rows, 1)),
        np.zeros((heads, rows, d)),
    )


def fold(state: State, scores: Array, values: Array) -> State:
    """Take in a tile: ``scores`` (heads, rows, m), ``values`` (heads, m, d).

    A row that has seen nothing yet has maximum -inf, and is left at nothing. The attention is
    ``state[2] / state[1]``.
    """
    top, total, out = state
    new = np.maximum(top, scores.max(axis=2, keepdims=True))
    base = np.where(np.isneginf(new), 0, new)  # -inf - -inf is nan
    kept, weights = np.exp(top - base), np.exp(scores - base)
    return new, total * kept + weights.sum(axis=2, keepdims=True), out * kept + weights @ values


def shared_tiles(memory: int, tile: int, width: int, number: int = 2) -> int:
    """How many tiles of ``tile`` by ``width`` numbers of ``number`` bytes fit into ``memory``."""
    return memory // (tile * width * number)
