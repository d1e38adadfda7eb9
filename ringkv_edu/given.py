"""Code that the exercises of stage 1 start from. It holds no answer, so graded runs may read it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

__all__ = ["Entry", "RingFields", "filled_ring", "token", "write_at_head"]


class Entry(NamedTuple):
    """One stored token: what ``visible()`` gives, oldest first."""

    key: list[float]
    value: list[float]
    position: int  # where the token stands in the text
    insert_seq: int  # which write this was, counted from 0
    physical_slot: int  # where in memory it lies


class RingFields:
    """The memory of a ring and its counters. Nothing here decides anything yet.

    ``keys``, ``values``: window_size places, None when empty. ``positions``: the position that
    each slot holds, -1 when empty. ``insert_count``: the write that filled it, -1 when empty.
    ``head``: the slot of the next write. ``size``: slots in use. ``num_writes``: writes so far.
    """

    def __init__(self, window_size: int) -> None:
        self.window_size = window_size
        self.keys: list[list[float] | None] = [None] * window_size
        self.values: list[list[float] | None] = [None] * window_size
        self.positions = [-1] * window_size
        self.insert_count = [-1] * window_size
        self.head = 0
        self.size = 0
        self.num_writes = 0

    def __repr__(self) -> str:
        counters = f"head {self.head}, size {self.size}, num_writes {self.num_writes}"
        return f"<ring of {self.window_size}: positions {self.positions}, {counters}>"


def write_at_head(ring: RingFields, key: list[float], value: list[float], position: int) -> None:
    """Write one token as the cache of lesson 01's case file did: into the slot at ``head``."""
    slot = ring.head
    ring.keys[slot], ring.values[slot] = list(key), list(value)
    ring.positions[slot], ring.insert_count[slot] = position, ring.num_writes
    ring.head = slot + 1 if slot + 1 < ring.window_size else 0
    ring.num_writes += 1
    ring.size = min(ring.num_writes, ring.window_size)


def token(rng: Random, head_dim: int = 2) -> tuple[list[float], list[float]]:
    """Draw one key and one value of ``head_dim`` numbers with one decimal."""
    tenths = [rng.randrange(-20, 21) / 10 for _ in range(2 * head_dim)]
    return tenths[:head_dim], tenths[head_dim:]


def filled_ring(window_size: int, positions: Sequence[int], rng: Random) -> RingFields:
    """Give a ring's memory as it lies after tokens with these positions were written."""
    ring = RingFields(window_size)
    for write, position in enumerate(positions):
        slot = write % window_size
        ring.keys[slot], ring.values[slot] = token(rng)
        ring.positions[slot], ring.insert_count[slot] = position, write
    ring.num_writes = len(positions)
    ring.head = ring.num_writes % window_size
    ring.size = min(ring.num_writes, window_size)
    return ring
