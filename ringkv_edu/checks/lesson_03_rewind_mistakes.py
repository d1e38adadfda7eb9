"""Lesson 03: right and wrong ways to take tokens back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import RingArrays

Array = npt.NDArray[Any]


def rewind(ring: RingArrays, n: int) -> None:
    """Take back the newest n tokens; raise ValueError and change nothing where that cannot be."""
    rewinding()(ring, n)


def missing(ring: RingArrays, length: int, window: int | None = None) -> bool:
    oldest = max(0, length - (ring.window if window is None else window))
    needed = {*range(min(ring.sinks, length)), *range(oldest, length)}
    return not needed <= set(ring.positions.tolist())


def gone(ring: RingArrays, length: int) -> Array:
    gone: Array = ring.positions >= length
    return gone


def empty(ring: RingArrays, slots: Any) -> None:
    ring.keys[:, slots], ring.values[:, slots], ring.positions[slots] = 0, 0, -1


def rewinding(
    refuse: Callable[[RingArrays, int], bool] = missing,
    gone: Callable[[RingArrays, int], Any] = gone,
    empty: Callable[[RingArrays, Any], None] = empty,
) -> Callable[[RingArrays, int], Any]:
    """Make a rewind from when it refuses (ring, new length) and what it empties."""

    def answer(ring: RingArrays, n: int) -> None:
        length = ring.seen - n
        if refuse(ring, length):
            raise ValueError("some of what the shorter text needs is gone")
        empty(ring, gone(ring, length))
        ring.seen = length

    return answer


def slack_alone(ring: RingArrays, length: int) -> bool:
    return ring.seen - length > ring.slack


def slack_once_wrapped(ring: RingArrays, length: int) -> bool:
    return ring.seen > ring.slots and slack_alone(ring, length)


def once_full(ring: RingArrays, length: int) -> bool:
    return bool((ring.positions >= 0).all())


def once_wrapped(ring: RingArrays, length: int) -> bool:
    return ring.seen > ring.slots


def one_less(ring: RingArrays, length: int) -> bool:
    return missing(ring, length, ring.window - 1)


def one_more(ring: RingArrays, length: int) -> bool:
    return missing(ring, length, ring.window + 1)


def below_zero(ring: RingArrays, length: int) -> bool:
    needed = range(length - ring.window, length)
    return not set(needed) <= set(ring.positions.tolist())


def sinks_counted(ring: RingArrays, length: int) -> bool:
    left = np.count_nonzero((ring.positions >= 0) & (ring.positions < length))
    return bool(left < min(ring.window, length))


def oldest_of_all(ring: RingArrays, length: int) -> bool:
    held = ring.positions[ring.positions >= 0]
    return bool(len(held) and held.min() > max(0, length - ring.window))


def every_sink(ring: RingArrays, length: int) -> bool:
    return missing(ring, length) or not set(range(ring.sinks)) <= set(ring.positions.tolist())


def last_of_none(ring: RingArrays, length: int) -> Array:
    newest = np.sort(ring.positions)[length - ring.seen :]
    return np.isin(ring.positions, newest)


def raising(error: type[Exception]) -> Callable[[RingArrays, int], Any]:
    def answer(ring: RingArrays, n: int) -> None:
        if missing(ring, ring.seen - n):
            raise error
        rewind(ring, n)

    return answer


def rolled(ring: RingArrays, length: int) -> list[int]:
    return [position % ring.slots for position in range(length, ring.seen)]


def position_as_slot(ring: RingArrays, length: int) -> slice:
    return slice(length, None)


def from_slot(ring: RingArrays, length: int) -> slice:
    return slice(length % ring.slots, None)


def positions_only(ring: RingArrays, slots: Any) -> None:
    ring.positions[slots] = -1


def storage_only(ring: RingArrays, slots: Any) -> None:
    ring.keys[:, slots], ring.values[:, slots] = 0, 0


def empty_is_zero(ring: RingArrays, slots: Any) -> None:
    ring.keys[:, slots], ring.values[:, slots], ring.positions[slots] = 0, 0, 0


def changes_first(ring: RingArrays, n: int) -> None:
    length, refused = ring.seen - n, missing(ring, ring.seen - n)
    empty(ring, gone(ring, length))
    ring.seen = length
    if refused:
        raise ValueError("too late")


def seen_first(ring: RingArrays, n: int) -> None:
    ring.seen -= n
    if missing(ring, ring.seen):
        raise ValueError("seen has moved")
    empty(ring, gone(ring, ring.seen))


def seen_kept(ring: RingArrays, n: int) -> None:
    seen = ring.seen
    rewind(ring, n)
    ring.seen = seen


def says_false(ring: RingArrays, n: int) -> bool:
    if missing(ring, ring.seen - n):
        return False
    rewind(ring, n)
    return True
