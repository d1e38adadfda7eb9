"""Lesson 02: the slots in order of time, for kernels that go by index."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from ..given_numpy import filled_arrays
from .code_case import code_case
from .compare import plain
from .lesson_02_attention import Array
from .model import Case, Exercise, Mutant, answers

__all__ = ["ORDER"]


ROUND = (
    "the slots are read once round the ring: that fails as soon as some slots take no part in the "
    "round. Sort by the stored positions"
)

IN_PLACE = (
    "positions is changed itself: it is the ring's own array, which still has to say what lies "
    "where. Work on a copy"
)


def time_order(positions: Array) -> Array:
    """Give the slots of the stored tokens, the oldest first."""
    slots = np.argsort(positions)
    stored: Array = slots[positions[slots] >= 0]
    return stored


def _round_from(start: Callable[[Array], int]) -> dict[str, Any]:
    """Make a mutant that walks once round all slots and leaves out the empty ones."""

    def mutant(positions: Array) -> list[int]:
        slots = [(start(positions) + step) % len(positions) for step in range(len(positions))]
        return [slot for slot in slots if positions[slot] >= 0]

    return answers(time_order=mutant)


def _oldest(positions: Array) -> int:
    return int(np.where(positions < 0, positions.max() + 1, positions).argmin())


def _empty_last(positions: Array) -> Array:
    return np.argsort(np.where(positions < 0, positions.max() + 1, positions), kind="stable")


def _marked_in_place(positions: Array) -> Array:
    stored = int((positions >= 0).sum())
    positions[positions < 0] = positions.max() + 1
    return np.argsort(positions)[:stored]


def _sorted_in_place(positions: Array) -> Array:
    positions.sort()
    return time_order(positions)


def _ranks(positions: Array) -> Array:
    ranks: Array = np.argsort(np.argsort(positions[positions >= 0]))
    return ranks


def _in_the_stored(positions: Array) -> Array:
    return np.argsort(positions[positions >= 0])


def _order_cases(rng: Random) -> list[Case]:
    states = [[8, 9, 6, 7], [0, -1, -1, -1], [0, 1, 2, -1], [0, 1, 2, 3], [4, 1, 2, 3], [5]]
    states += [
        [8, -1, 6, 7],
        [-1, -1, 6, 7],
        [12, 13, 14, -1, 10, 11],
        [0, 1, 6, 7, 4, 5],
        [0, 1, 6, -1, 4, 5],
    ]
    sinks, ring, seen = rng.randrange(1, 3), rng.randrange(4, 8), rng.randrange(20, 60)
    taken_back = rng.randrange(1, 3)
    drawn = filled_arrays(seen, rng, ring, sinks=sinks, taken_back=taken_back).positions
    lines = [
        f"positions = np.array({state}); slots = time_order(positions)"
        for state in [*states, drawn.tolist(), [-1, -1, -1]]
    ]
    return [code_case(line, "time_order", _look) for line in lines]


def _look(space: dict[str, Any]) -> dict[str, Any]:
    """Give the slots; empty ones among them in slot order, since a sort may leave them in any."""
    slots, positions = plain(space["slots"]), space["positions"]
    places = [*range(len(positions))]
    if not isinstance(slots, list) or any(type(s) is not int or s not in places for s in slots):
        return {"result": slots}
    empty = iter(sorted(slot for slot in slots if positions[slot] < 0))
    return {"result": [next(empty) if positions[slot] < 0 else slot for slot in slots]}


ORDER = Exercise(
    id="np4-order",
    names=("time_order",),
    cases=_order_cases,
    reference=answers(time_order),
    mutants=(
        Mutant(
            "slot-order",
            "the slots come in the order in which they lie: after a wrap that is not time",
            answers(time_order=lambda p: np.flatnonzero(p >= 0)),
        ),
        Mutant(
            "empty-first",
            "empty slots are in the list: -1 sorts before every position",
            answers(time_order=np.argsort),
        ),
        Mutant(
            "empty-last",
            "empty slots are in the list, at its end: leave them out",
            answers(time_order=_empty_last),
        ),
        Mutant(
            "picked-unsorted",
            "the slots are sorted and then picked by a mask that is not: True belongs to slots in "
            "slot order. Ask positions[slots] >= 0",
            answers(time_order=lambda p: np.argsort(p)[p >= 0]),
        ),
        Mutant(
            "positions",
            "positions are given where slots were asked for",
            answers(time_order=lambda p: np.sort(p[p >= 0])),
        ),
        Mutant(
            "all-positions",
            "the positions are sorted and given back: asked for are the slots, without the empty "
            "ones",
            answers(time_order=np.sort),
        ),
        Mutant(
            "slot-rule",
            "the slots are worked out from the positions, as p % slots: give those in which they "
            "were found",
            answers(time_order=lambda p: np.sort(p[p >= 0]) % len(p)),
        ),
        Mutant(
            "ranks",
            "each token's rank is given: argsort of argsort answers another question",
            answers(time_order=_ranks),
        ),
        Mutant(
            "numbered-anew",
            "the empty slots are taken out before the sort, so what is given are places in the "
            "shorter array, not slots",
            answers(time_order=_in_the_stored),
        ),
        Mutant(
            "newest-first",
            "the newest token comes first: the oldest should",
            answers(time_order=lambda p: time_order(p)[::-1]),
        ),
        Mutant(
            "newest-first-with-empty",
            "the newest token comes first, and the empty slots last: the oldest should come first, "
            "and the empty ones not at all",
            answers(time_order=lambda p: np.argsort(-p)),
        ),
        Mutant(
            "zero-dropped",
            "position 0 is taken for empty: it is a real token",
            answers(time_order=lambda p: time_order(p)[p[time_order(p)] > 0]),
        ),
        Mutant("marked-in-place", IN_PLACE, answers(time_order=_marked_in_place)),
        Mutant("sorted-in-place", IN_PLACE, answers(time_order=_sorted_in_place)),
        Mutant(
            "round-from-newest",
            ROUND,
            _round_from(lambda p: int(p.argmax()) + 1),
        ),
        Mutant("round-from-lowest", ROUND, _round_from(lambda p: int(p.argmin()))),
        Mutant("round-from-oldest", ROUND, _round_from(_oldest)),
        Mutant(
            "round-with-empty",
            "the slots are read once round the ring, the empty ones among them",
            answers(time_order=lambda p: np.roll(np.arange(len(p)), -int(p.argmax()) - 1)),
        ),
        Mutant(
            "round-from-count",
            "the slots are read once round the ring, from the number of stored tokens on: a count "
            "does not tell where the oldest token lies",
            _round_from(lambda p: int((p >= 0).sum())),
        ),
        Mutant(
            "round-from-newest-itself",
            "the slots are read once round the ring, beginning with the newest token",
            _round_from(lambda p: int(p.argmax())),
        ),
    ),
)
