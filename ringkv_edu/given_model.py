"""What lesson 07 starts from: one attention layer's weights, and a toy of many layers.

In NumPy, so that graded runs need no torch. They may read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from .given_attention import attend_at
from .given_chunks import place
from .given_numpy import RingArrays, numbers

__all__ = ["Layer", "Stack", "attended", "drawn_layer", "write"]

Array = npt.NDArray[Any]
VOCAB, WIDE = 10, 3


class Layer:
    """The four matrices of one attention layer, float64, and its sizes. Nothing is computed here.

    ``q`` (heads * head_dim, dim), ``k`` and ``v`` (kv_heads * head_dim, dim), ``out``
    (dim, heads * head_dim): ``layer.q @ x`` gives the queries of a token ``x`` (dim,), one head
    after the other.
    """

    def __init__(
        self, q: Array, k: Array, v: Array, out: Array, heads: int, kv_heads: int, head_dim: int
    ) -> None:
        self.q, self.k, self.v, self.out = q, k, v, out
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim

    def __repr__(self) -> str:
        return f"<layer of {self.heads} heads, {self.kv_heads} kv_heads of {self.head_dim}>"


def drawn_layer(rng: Random, dim: int, heads: int, kv_heads: int, head_dim: int) -> Layer:
    """Draw a layer's weights, numbers with one decimal."""
    wide, narrow = heads * head_dim, kv_heads * head_dim
    shapes = ((wide, dim), (narrow, dim), (narrow, dim), (dim, wide))
    q, k, v, out = (numbers(rng, *shape) for shape in shapes)
    return Layer(q, k, v, out, heads, kv_heads, head_dim)


def write(ring: RingArrays, k: Array, v: Array) -> None:
    """Write one token at position ``ring.seen``, which then counts it; (kv_heads, head_dim)."""
    place(ring, k[:, None], v[:, None])


def attended(ring: RingArrays, q: Array) -> Array:
    """Give what the newest stored token's query sees: ``q`` and the result (heads, head_dim).

    The scores are scaled, the mask is made from stored positions, and neighbouring query heads
    share a key/value head.
    """
    newest = [ring.positions.max()]
    seen = attend_at(
        newest, q[:, None], ring.positions, ring.keys, ring.values, ring.window, ring.sinks
    )
    return seen[:, 0]


class Stack:
    """Layers of a toy: each token takes in the tokens that it sees, and adds that to its own.

    ``windows``: one for each layer, from the first to the last; None for one that sees all. It
    stands for a decoder where only the windows matter: no queries, no heads.
    """

    def __init__(self, windows: Sequence[int | None], rng: Random) -> None:
        self.windows = list(windows)
        self.embed = numbers(rng, VOCAB, WIDE)
        self.mix = [numbers(rng, WIDE, WIDE) for _ in self.windows]

    def run(self, tokens: Sequence[int]) -> list[Array]:
        """Give what each layer puts out, the first layer's first: arrays (n, 3).

        ``tokens`` are whole numbers from 0 to 9, token t at position t.
        """
        x = np.array([self.embed[token] for token in tokens])
        outs = []
        for window, mix in zip(self.windows, self.mix, strict=True):
            rows = []
            for position in range(len(x)):
                first = 0 if window is None else max(0, position - window + 1)
                rows.append(x[position] + mix @ x[first : position + 1].mean(axis=0))
            x = np.array(rows)
            outs.append(x)
        return outs
