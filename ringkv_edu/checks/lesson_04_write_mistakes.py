"""Lesson 04: right and wrong ways to write a turned key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import RingArrays
from ..given_rope import turned
from .model import answers

Array = npt.NDArray[Any]
Place = Callable[[RingArrays], Any]


def write(ring: RingArrays, k: Array, v: Array) -> None:
    """Store one token: its key turned to its position, its value as it is."""
    stored(ring, k, v)


def stored(
    ring: RingArrays,
    k: Array,
    v: Array,
    key_at: Place = lambda ring: ring.seen,
    value_at: Place = lambda ring: 0,
    position: Place = lambda ring: ring.seen,
    slot: Place = lambda ring: ring.seen % ring.window,
) -> None:
    where = slot(ring)
    ring.keys[:, where] = turned(k, key_at(ring))
    ring.values[:, where] = turned(v, value_at(ring))
    ring.positions[where] = position(ring)
    ring.seen += 1


def other(**steps: Place) -> dict[str, Any]:
    """Make a mutant of ``write`` that differs in some steps."""
    return answers(write=lambda ring, k, v: stored(ring, k, v, **steps))


def all_turned(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    stored(ring, k, v, key_at=lambda ring: 0)
    ring.positions[slot] = ring.seen - 1
    for other in np.flatnonzero(ring.positions >= 0):
        ring.keys[:, other] = turned(ring.keys[:, other], ring.positions[other])


def not_counted(ring: RingArrays, k: Array, v: Array) -> None:
    seen = ring.seen
    stored(ring, k, v)
    ring.seen = seen


def seen_wraps(ring: RingArrays, k: Array, v: Array) -> None:
    stored(ring, k, v)
    ring.seen %= ring.window


def slot_as_head(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[slot] = turned(k, ring.seen)
    ring.values[slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1


def in_place(ring: RingArrays, k: Array, v: Array) -> None:
    k[:] = turned(k, ring.seen)
    stored(ring, k, v, key_at=lambda ring: 0)


def value_not_stored(ring: RingArrays, k: Array, v: Array) -> None:
    stored(ring, k, 0 * v)
