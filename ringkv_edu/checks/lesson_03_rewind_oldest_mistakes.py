"""Lesson 03: wrong ways to look for the oldest token that a shorter text needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..given_numpy import RingArrays
from .lesson_03_rewind_mistakes import below_zero

EMPTY_IS_LEAST = (
    "the smallest entry of `positions` is -1 as soon as a slot is empty: look for the oldest among "
    "the stored positions only"
)
BELOW_ZERO = (
    "W positions are asked for, below 0 if need be: a text shorter than the window needs those "
    "from 0 on"
)
SINK_IN_WINDOW = (
    "only positions behind the sinks are looked at: when the shorter text is that short, its last "
    "W positions may be sinks, and these are stored"
)
EMPTY_COUNTED = (
    "empty slots are counted, too: for a text shorter than the window m - W is not above -1. Count "
    "stored positions only"
)
COUNT_MINUS_N = (
    "n is subtracted from the number of filled slots: some of the tokens taken back may be gone "
    "already, and a sink cannot stand in for a position of the window"
)
OLDEST_ALONE = (
    "only the oldest needed position is looked for: that may be a sink, while tokens behind it are "
    "gone, and a text of no tokens needs none"
)


def smallest_of_some(ring: RingArrays, length: int) -> bool:
    return length > 0 and smallest(ring, length)


def empty_counted(ring: RingArrays, length: int) -> bool:
    near = (ring.positions >= length - ring.window) & (ring.positions < length)
    return bool(near.sum() < min(ring.window, length))


def count_minus_n(ring: RingArrays, length: int) -> bool:
    filled = np.count_nonzero(ring.positions >= 0)
    return bool(filled - (ring.seen - length) < min(ring.window, length))


def oldest_of_all_below_zero(ring: RingArrays, length: int) -> bool:
    return bool(length - ring.window < ring.positions[ring.positions >= 0].min())


def smallest(ring: RingArrays, length: int) -> bool:
    return bool(max(0, length - ring.window) < ring.positions.min())


def smallest_below_zero(ring: RingArrays, length: int) -> bool:
    return bool(length - ring.window < ring.positions.min())


def smallest_behind_sinks(ring: RingArrays, length: int) -> bool:
    return bool(max(0, length - ring.window) < ring.positions[ring.sinks :].min())


def smallest_behind_sinks_below_zero(ring: RingArrays, length: int) -> bool:
    return bool(length - ring.window < ring.positions[ring.sinks :].min())


def behind_sinks(ring: RingArrays, length: int) -> bool:
    return length > 0 and behind_sinks_below_zero(ring, max(length, ring.window))


def behind_sinks_below_zero(ring: RingArrays, length: int) -> bool:
    held = ring.positions[ring.positions >= ring.sinks]
    return bool(len(held) and length - ring.window < held.min())


def oldest_alone(ring: RingArrays, length: int) -> bool:
    return length > 0 and oldest_alone_of_none(ring, length)


def oldest_alone_of_none(ring: RingArrays, length: int) -> bool:
    return max(0, length - ring.window) not in ring.positions


def oldest_alone_below_zero(ring: RingArrays, length: int) -> bool:
    return length - ring.window not in ring.positions


OLDEST: tuple[tuple[str, str, Callable[[RingArrays, int], bool]], ...] = (
    ("smallest-of-some", EMPTY_IS_LEAST, smallest_of_some),
    ("smallest", EMPTY_IS_LEAST, smallest),
    ("smallest-below-zero", EMPTY_IS_LEAST, smallest_below_zero),
    ("smallest-behind-sinks", EMPTY_IS_LEAST, smallest_behind_sinks),
    ("smallest-behind-sinks-below-zero", EMPTY_IS_LEAST, smallest_behind_sinks_below_zero),
    ("behind-sinks", SINK_IN_WINDOW, behind_sinks),
    ("below-zero", BELOW_ZERO, below_zero),
    ("oldest-of-all-below-zero", BELOW_ZERO, oldest_of_all_below_zero),
    ("behind-sinks-below-zero", BELOW_ZERO, behind_sinks_below_zero),
    ("empty-counted", EMPTY_COUNTED, empty_counted),
    ("count-minus-n", COUNT_MINUS_N, count_minus_n),
    ("oldest-alone", OLDEST_ALONE, oldest_alone),
    ("oldest-alone-of-none", OLDEST_ALONE, oldest_alone_of_none),
    ("oldest-alone-below-zero", BELOW_ZERO, oldest_alone_below_zero),
)
