"""Lesson 02: masks that real people write, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .lesson_02_attention import Array, attention, root
from .model import answers

FINITE = "a finite number stands for minus infinity: scores can be lower than it"
COUNTED = (
    "hidden scores still take part in the maximum or in exp: beside a large one all that is seen "
    "becomes 0, and 0 / 0 is NaN, or it overflows, and infinity times 0 is NaN. Put minus "
    "infinity in their place first"
)
ZEROED = "hidden keys are set to zero: a zero key has the score 0, and exp(0) is 1. Mask the scores"
Test = Callable[[Array, int, int], Array]


def attend_seen(
    q: Array, keys: Array, values: Array, positions: Array, query_position: int, window: int
) -> Array:
    """Attend to the slots whose stored position the query sees."""
    return attention(q, keys, values, seen=sees(positions, query_position, window))


def sees(positions: Array, query: int, window: int) -> Array:
    seen: Array = (positions >= 0) & (positions <= query) & (query - positions < window)
    return seen


def masked(test: Test, style: str = "") -> dict[str, Any]:
    """Make a mutant from its mask.

    Where it sees nothing at all, answers differ by how they mask: with minus infinity, by taking
    the rows that are seen, or with a large negative number.
    """

    def mutant(
        q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
    ) -> Array:
        seen = test(positions, query, window)
        if style == "-rows":
            return attention(q, keys[seen], values[seen])
        if style == "-large" and not seen.any():
            return attention(0 * q, keys, values)
        return attention(q, keys, values, seen=seen)

    return answers(attend_seen=mutant)


def scores_changed(change: Callable[[Array, Array], Array]) -> dict[str, Any]:
    """Make a mutant that does something else to the scores of what is not seen."""

    def mutant(
        q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
    ) -> Array:
        with np.errstate(all="ignore"):
            scores = change(keys @ q * root(keys), sees(positions, query, window))
        return attention(scores, np.eye(len(scores)), values, scale=lambda keys: 1.0)

    return answers(attend_seen=mutant)


def steps_changed(**steps: Any) -> dict[str, Any]:
    """Make a mutant with the right mask and another step of attention."""

    def mutant(
        q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
    ) -> Array:
        return attention(q, keys, values, seen=sees(positions, query, window), **steps)

    return answers(attend_seen=mutant)


def mask_after(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    seen = sees(positions, query, window)
    return attention(q, keys, values * seen[:, None])


def finite(scores: Array, seen: Array) -> Array:
    return np.where(seen, scores, -100.0)


def hidden_counted(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    seen = sees(positions, query, window)
    return attention(q, keys, values * seen[:, None], total=lambda weights: weights[seen].sum())


def hidden_zeroed(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    seen = sees(positions, query, window)[:, None]
    return attention(q, keys * seen, values * seen)


def zeroed_in_place(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    hidden = ~sees(positions, query, window)
    keys[hidden], values[hidden] = 0.0, 0.0
    return attention(q, keys, values)


def newest_as_query(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    return attend_seen(q, keys, values, positions, int(positions.max()), window)


def joined_by_and(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    distance = query - positions
    seen = (positions >= 0) and (distance >= 0) and (distance < window)
    return attention(q, keys, values, seen=seen)


def values_unpicked(
    q: Array, keys: Array, values: Array, positions: Array, query: int, window: int
) -> Array:
    scores = (keys @ q * root(keys))[sees(positions, query, window)]
    weights = np.exp(scores - scores.max())
    out: Array = weights @ values / weights.sum()
    return out


def first(count: Callable[[Array, int], int]) -> Test:
    """Give the mask of a counter: the first slots, however many it says."""
    return lambda positions, query, window: np.arange(len(positions)) < count(positions, query)
