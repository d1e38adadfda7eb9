"""Code that the exercises of stage 2 start from. Graded runs may read it."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RingArrays", "filled_arrays", "numbers"]

Array = npt.NDArray[Any]


class RingArrays:
    """The memory of a NumPy ring and its one counter. Nothing here decides anything yet.

    ``keys``, ``values`` (kv_heads, slots, head_dim) float64, zeros; ``positions`` (slots,) int64,
    -1 where a slot is empty; ``seen``: tokens so far, so the position of the next one.
    ``slots`` is sinks + window + slack.
    """

    def __init__(
        self, window: int, kv_heads: int = 1, head_dim: int = 2, sinks: int = 0, slack: int = 0
    ) -> None:
        self.window, self.sinks, self.slack = window, sinks, slack
        self.slots = sinks + window + slack
        self.keys = np.zeros((kv_heads, self.slots, head_dim))
        self.values = np.zeros((kv_heads, self.slots, head_dim))
        self.positions = np.full(self.slots, -1, dtype=np.int64)
        self.seen = 0

    def __repr__(self) -> str:
        return (
            f"<ring of {self.slots} slots: positions {self.positions.tolist()}, seen {self.seen}>"
        )


def numbers(rng: Random, *shape: int) -> Array:
    """Draw an array of numbers with one decimal, from -2 to 2, none of them 0."""
    drawn = [rng.choice([-1, 1]) * rng.randrange(1, 21) / 10 for _ in range(math.prod(shape))]
    return np.array(drawn).reshape(shape)


def filled_arrays(
    seen: int,
    rng: Random,
    window: int,
    kv_heads: int = 1,
    head_dim: int = 2,
    sinks: int = 0,
    slack: int = 0,
    taken_back: int = 0,
) -> RingArrays:
    """Give a ring's memory as it lies after ``seen + taken_back`` tokens, some then taken back."""
    ring = RingArrays(window, kv_heads, head_dim, sinks, slack)
    for position in range(seen + taken_back):
        slot = position
        if position >= sinks:
            slot = sinks + (position - sinks) % (window + slack)
        ring.keys[:, slot] = numbers(rng, kv_heads, head_dim)
        ring.values[:, slot] = numbers(rng, kv_heads, head_dim)
        ring.positions[slot] = position
    gone = ring.positions >= seen
    ring.keys[:, gone], ring.values[:, gone], ring.positions[gone] = 0, 0, -1
    ring.seen = seen
    return ring
