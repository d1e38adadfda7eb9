"""Lesson 04: slot, position and rank of every stored token."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import filled_arrays
from .lesson_04_common import array, line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["THREE"]

Array = npt.NDArray[Any]
Slots = list[int]
Triple = tuple[int, int, int]
Rank = Callable[[int, int, Slots], int]  # of a slot, its position, all positions


def three_numbers(positions: npt.ArrayLike) -> list[Triple | None]:
    """Give (slot, position, rank) for each slot, None for an empty one."""
    return _three(positions, _rank)


def _rank(slot: int, held: int, p: Slots) -> int:
    return sum(0 <= other < held for other in p)


def _three(positions: npt.ArrayLike, rank: Rank) -> list[Triple | None]:
    p = [int(held) for held in np.asarray(positions)]
    return [(slot, h, rank(slot, h, p)) if h >= 0 else None for slot, h in enumerate(p)]


def _with(rank: Rank) -> dict[str, Any]:
    return answers(three_numbers=lambda positions: _three(positions, rank))


def _argsort(slot: int, held: int, p: Slots) -> int:
    return int(np.argsort(p)[slot])


def _empties_dropped(positions: npt.ArrayLike) -> list[Triple]:
    return [triple for triple in three_numbers(positions) if triple]


def _in_order_of_time(positions: npt.ArrayLike) -> list[Triple | None]:
    found = three_numbers(positions)
    return sorted(_empties_dropped(positions), key=lambda t: t[1]) + [t for t in found if not t]


def _places_changed(positions: npt.ArrayLike) -> list[Triple | None]:
    return [t and (t[0], t[2], t[1]) for t in three_numbers(positions)]


def _zero_dropped(positions: npt.ArrayLike) -> list[Triple | None]:
    return _three([p if p else -1 for p in np.asarray(positions).tolist()], _rank)


def _zero_shown_empty(positions: npt.ArrayLike) -> list[Triple | None]:
    return [triple if triple and triple[1] else None for triple in three_numbers(positions)]


def _truth(positions: npt.ArrayLike) -> list[Triple | None]:
    p = [int(held) for held in np.asarray(positions)]
    return [(slot, h, _rank(slot, h, p)) if h else None for slot, h in enumerate(p)]


def _zero_not_in_row(positions: npt.ArrayLike) -> list[Triple | None]:
    row = sorted(p for p in np.asarray(positions) if p > 0)
    return _three(positions, lambda slot, held, p: row.index(np.asarray(positions)[slot]))


def _sorted_in_place(positions: Array) -> list[Triple | None]:
    found = three_numbers(positions)
    positions.sort()
    return found


def _empties_dropped_first(positions: npt.ArrayLike) -> list[Triple | None]:
    return three_numbers([p for p in np.asarray(positions) if p >= 0])


def _empties_numbered(positions: npt.ArrayLike) -> list[Triple]:
    found = three_numbers(positions)
    return [triple or (slot, -1, -1) for slot, triple in enumerate(found)]


def _three_cases(rng: Random) -> list[Case]:
    states = [
        [0, -1, -1, -1],
        [0, 1, 2, 3],
        [8, 9, 6, 7],
        [5, 6, 7, 3, 4],
        [-1, -1, -1],
        [0, 10, 8, 9],  # one sink
        [8, -1, 6, 7],  # a token was taken back
        [-1, 5, -1, 3, 4],
    ]
    window, sinks = rng.randrange(3, 6), rng.randrange(1, 3)
    seen = sinks + window * rng.randrange(2, 5) + rng.randrange(1, window)
    states.append(filled_arrays(seen, rng, window, sinks=sinks).positions.tolist())
    return [line_case(f"three_numbers({array(state)})", "three_numbers") for state in states]


THREE = Exercise(
    id="rope5-three",
    names=("three_numbers",),
    cases=_three_cases,
    reference=answers(three_numbers),
    mutants=(
        Mutant(
            "slot-as-rank",
            "the slot is given as the rank: a rank counts the older tokens, wherever they lie",
            _with(lambda slot, held, p: slot),
        ),
        Mutant(
            "in-slot-order",
            "the stored tokens are counted in slot order: a rank counts them in the order "
            "of their positions",
            _with(lambda slot, held, p: sum(other >= 0 for other in p[:slot])),
        ),
        Mutant(
            "newest-first",
            "the ranks are counted from the newest: rank 0 is the oldest token stored",
            _with(lambda slot, held, p: sum(other > held for other in p)),
        ),
        Mutant(
            "empties-counted",
            "empty slots are counted as older tokens: -1 is smaller than every position",
            _with(lambda slot, held, p: sum(other < held for other in p)),
        ),
        Mutant(
            "from-one",
            "the ranks begin at 1: the oldest token stored has rank 0",
            _with(lambda slot, held, p: _rank(slot, held, p) + 1),
        ),
        Mutant(
            "modulo",
            "the position modulo the number of slots is given as the rank",
            _with(lambda slot, held, p: held % len(p)),
        ),
        Mutant(
            "from-the-oldest",
            "the distance to the oldest token is given as the rank: the same only while no "
            "position between two stored tokens is missing",
            _with(lambda slot, held, p: held - min(other for other in p if other >= 0)),
        ),
        Mutant(
            "distance",
            "the distance to the newest token is given as the rank",
            _with(lambda slot, held, p: max(p) - held),
        ),
        Mutant(
            "argsort",
            "argsort is taken for the ranks: it names, for each rank, the place where that token "
            "lies. The argsort of the argsort gives ranks",
            _with(_argsort),
        ),
        Mutant(
            "places-changed",
            "position and rank have changed places: the order is slot, position, rank",
            answers(three_numbers=_places_changed),
        ),
        Mutant(
            "zero-dropped",
            "position 0 is taken for empty: it is a real token",
            answers(three_numbers=_zero_dropped),
        ),
        Mutant(
            "zero-shown-empty",
            "the slot that holds position 0 gives None: that is a real token, only -1 is empty",
            answers(three_numbers=_zero_shown_empty),
        ),
        Mutant(
            "truth-value",
            "a position is asked whether it is true: 0 counts as false, and -1, which means "
            "empty, as true. Ask whether it is 0 or more",
            answers(three_numbers=_truth),
        ),
        Mutant(
            "zero-not-counted",
            "position 0 is not counted as an older token: it is a real one",
            _with(lambda slot, held, p: sum(0 < other < held for other in p)),
        ),
        Mutant(
            "zero-not-in-row",
            "position 0 is left out of the row of stored tokens, and then looked for in it: it is "
            "a real token",
            answers(three_numbers=_zero_not_in_row),
        ),
        Mutant(
            "sorted-in-place",
            "the caller's array is sorted: positions.sort() changes it, sorted(positions) gives a "
            "new list",
            answers(three_numbers=_sorted_in_place),
        ),
        Mutant(
            "empties-numbered",
            "an empty slot gets three numbers: give None",
            answers(three_numbers=_empties_numbered),
        ),
        Mutant(
            "empties-dropped",
            "empty slots are left out: give one entry for each slot",
            answers(three_numbers=_empties_dropped),
        ),
        Mutant(
            "empties-dropped-first",
            "empty slots are left out before the slots are numbered: a slot's number counts the "
            "empty ones before it, too",
            answers(three_numbers=_empties_dropped_first),
        ),
        Mutant(
            "in-order-of-time",
            "the entries stand in the order of the text: give them in slot order",
            answers(three_numbers=_in_order_of_time),
        ),
    ),
)
