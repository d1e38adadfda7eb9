"""What lesson 03 starts from: a slow writer, and a buggy cache. Graded runs may read it."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .given_numpy import RingArrays

__all__ = ["TwoCounters", "place"]

Array = npt.NDArray[Any]


def place(ring: RingArrays, k: Array, v: Array) -> None:
    """Write ``k`` and ``v`` (kv_heads, n, head_dim) into a ring, one token after the other."""
    for token in range(k.shape[1]):
        slot = position = ring.seen
        if position >= ring.sinks:
            slot = ring.sinks + (position - ring.sinks) % (ring.window + ring.slack)
        ring.keys[:, slot], ring.values[:, slot] = k[:, token], v[:, token]
        ring.positions[slot] = position
        ring.seen += 1


class TwoCounters:
    """A rotating cache that stores no positions: what it holds follows from two counters.

    ``slots``: one token a slot, None at first. ``offset``: how many tokens there have been.
    ``index``: the slot of the next write; ``max_size`` stands for slot 0, about to wrap.
    """

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.slots: list[Any] = [None] * max_size
        self.offset = 0
        self.index = 0

    def append(self, token: Any) -> None:
        """Write one token over the oldest one."""
        if self.index == self.max_size:
            self.index = 0
        self.slots[self.index] = token
        self.index += 1
        self.offset += 1

    def held(self) -> list[Any]:
        """Give what attention would read, in slot order."""
        return self.slots[: min(self.offset, self.max_size)]

    def __repr__(self) -> str:
        return f"<slots {self.slots}, offset {self.offset}, index {self.index}>"
