"""Lesson 07: rings with sinks, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import answers

Array = npt.NDArray[Any]


class MyModelRing:
    """A ring with sinks, for one sequence of one layer."""

    def __init__(self, window: int, kv_heads: int, head_dim: int, sinks: int = 0) -> None:
        slots = sinks + window
        self.window, self.sinks, self.seen = window, sinks, 0
        self.keys = np.zeros((kv_heads, slots, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.positions = np.full(slots, -1)

    def append(self, k: Array, v: Array) -> None:
        """Store n tokens; k and v (kv_heads, n, head_dim)."""
        for token in range(k.shape[1]):
            self.put(self.slot(self.seen, token), k[:, token], v[:, token])
            self.seen += 1

    def slot(self, position: int, token: int) -> int:
        """Give the slot of a position; ``token`` is its number in the chunk."""
        if position < self.sinks:
            return position
        return self.sinks + (position - self.sinks) % self.window

    def put(self, slot: int, key: Array, value: Array) -> None:
        """Write one token."""
        self.keys[:, slot], self.values[:, slot] = key, value
        self.positions[slot] = self.seen


def with_slot(slot: Callable[[Any, int, int], int]) -> dict[str, Any]:
    """Make a mutant with another rule for the slot: (ring, position, number in the chunk)."""
    return answers(MyModelRing=type("MyModelRing", (MyModelRing,), {"slot": slot}))


def with_put(put: Callable[[Any, int, Array, Array], None]) -> dict[str, Any]:
    return answers(MyModelRing=type("MyModelRing", (MyModelRing,), {"put": put}))


def with_append(append: Callable[[Any, Array, Array], None]) -> dict[str, Any]:
    return answers(MyModelRing=type("MyModelRing", (MyModelRing,), {"append": append}))


def two_rules(ring: MyModelRing, position: int, token: int) -> int:
    slots = ring.sinks + ring.window
    return position if position < slots else ring.sinks + position % ring.window


def newest_overwritten(ring: MyModelRing, position: int, token: int) -> int:
    return min(position, ring.sinks + ring.window - 1)


def sinks_of_each_chunk(ring: MyModelRing, position: int, token: int) -> int:
    if token < ring.sinks:
        return token
    return ring.sinks + (position - ring.sinks) % ring.window


def over_the_sinks(ring: MyModelRing, position: int, token: int) -> int:
    return position if position < ring.sinks else (position - ring.sinks) % ring.window


def sinks_in_the_window(ring: MyModelRing, position: int, token: int) -> int:
    around = max(1, ring.window - ring.sinks)
    return position if position < ring.sinks else ring.sinks + (position - ring.sinks) % around


def swapped(ring: MyModelRing, slot: int, key: Array, value: Array) -> None:
    MyModelRing.put(ring, slot, value, key)


def slot_as_position(ring: MyModelRing, slot: int, key: Array, value: Array) -> None:
    MyModelRing.put(ring, slot, key, value)
    ring.positions[slot] = slot


def no_position(ring: MyModelRing, slot: int, key: Array, value: Array) -> None:
    ring.keys[:, slot], ring.values[:, slot] = key, value


def position_after(ring: MyModelRing, slot: int, key: Array, value: Array) -> None:
    MyModelRing.put(ring, slot, key, value)
    ring.positions[slot] = ring.seen + 1


def first_head(ring: MyModelRing, slot: int, key: Array, value: Array) -> None:
    ring.keys[0, slot], ring.values[0, slot] = key[0], value[0]
    ring.positions[slot] = ring.seen


def first_token_alone(ring: MyModelRing, k: Array, v: Array) -> None:
    MyModelRing.append(ring, k[:, :1], v[:, :1])


def last_token_alone(ring: MyModelRing, k: Array, v: Array) -> None:
    ring.seen += k.shape[1] - 1
    MyModelRing.append(ring, k[:, -1:], v[:, -1:])


def counted_once(ring: MyModelRing, k: Array, v: Array) -> None:
    start = ring.seen
    MyModelRing.append(ring, k, v)
    ring.seen = start + 1


def never_counted(ring: MyModelRing, k: Array, v: Array) -> None:
    start = ring.seen
    MyModelRing.append(ring, k, v)
    ring.seen = start


def one_a_head(ring: MyModelRing, k: Array, v: Array) -> None:
    for token in range(len(k)):
        MyModelRing.append(ring, k[:, token : token + 1], v[:, token : token + 1])


def seen_from_the_slot(ring: MyModelRing, k: Array, v: Array) -> None:
    for token in range(k.shape[1]):
        slot = ring.slot(ring.seen, token)
        ring.put(slot, k[:, token], v[:, token])
        ring.seen = slot + 1


def counted_twice(ring: MyModelRing, k: Array, v: Array) -> None:
    for token in range(k.shape[1]):
        start = ring.seen
        ring.seen += token
        ring.put(ring.slot(ring.seen, token), k[:, token], v[:, token])
        ring.seen = start + 1


def one_slice(ring: MyModelRing, k: Array, v: Array) -> None:
    n, slot = k.shape[1], ring.slot(ring.seen, 0)
    ring.keys[:, slot : slot + n], ring.values[:, slot : slot + n] = k, v
    ring.positions[slot : slot + n] = range(ring.seen, ring.seen + n)
    ring.seen += n


def one_position_a_chunk(ring: MyModelRing, k: Array, v: Array) -> None:
    start = ring.seen
    for token in range(k.shape[1]):
        ring.seen = start
        ring.put(ring.slot(start, token), k[:, token], v[:, token])
    ring.seen = start + k.shape[1]


def chunk_from_zero(ring: MyModelRing, k: Array, v: Array) -> None:
    start = ring.seen
    for token in range(k.shape[1]):
        ring.seen = token
        ring.put(ring.slot(token, token), k[:, token], v[:, token])
    ring.seen = start + k.shape[1]
