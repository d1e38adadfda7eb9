"""Lesson 01: how far back each slot's token lies."""

from __future__ import annotations

from random import Random
from typing import Any

from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["DISTANCE"]

Slots = list[int]


def distances(positions: Slots) -> list[int | None]:
    """Give how far each stored token lies behind the newest; None for an empty slot."""
    newest = max(positions)
    return [None if held < 0 else newest - held for held in positions]


def _distance_cases(rng: Random) -> list[Case]:
    states = [
        [0, -1, -1, -1],
        [0, 1, 2, 3],
        [4, 1, 2, 3],
        [4, 5, 2, 3],
        [8, 9, 6, 7],
        [8, 5, 6, 7],
        [0, 1, 12, 9, 10, 11],
        [-1, 5, -1, 3],
    ]
    window, seen = rng.randrange(3, 7), rng.randrange(8, 30)
    ring = [-1] * window
    for position in range(seen):
        ring[position % window] = position
    return [_distance_case(state) for state in [*states, ring]]


def _distance_case(positions: Slots) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.distances, list(positions))}

    return Case(f"slots hold {positions}", run)


def _each(distance: Any) -> Any:
    """Make a mutant of ``distances`` from (slot, held, positions)."""
    return answers(
        distances=lambda positions: [
            None if held < 0 else distance(slot, held, positions)
            for slot, held in enumerate(positions)
        ]
    )


def _rank(slot: int, held: int, positions: Slots) -> int:
    return sum(other > held for other in positions)


DISTANCE = Exercise(
    id="ex07-distance",
    names=("distances",),
    cases=_distance_cases,
    reference=answers(distances),
    mutants=(
        Mutant(
            "slot-as-position",
            "the slot is used as the position, for query and key alike: "
            "right until the first wrap, then some keys seem to lie in the future",
            _each(lambda slot, held, p: p.index(max(p)) - slot),
        ),
        Mutant(
            "slot-for-key",
            "the slot is used as the key's position",
            _each(lambda slot, held, p: max(p) - slot),
        ),
        Mutant(
            "rank",
            "the rank in the cache is used: the same only while no position between "
            "two stored tokens is missing",
            _each(_rank),
        ),
        Mutant(
            "one-too-far",
            "every distance is one too large: the newest token lies 0 back",
            _each(lambda slot, held, p: max(p) - held + 1),
        ),
        Mutant(
            "turned-round",
            "the sign is turned round: count back from the newest",
            _each(lambda slot, held, p: held - max(p)),
        ),
        Mutant(
            "last-slot",
            "the last slot's token is taken for the newest: a full ring's newest is anywhere",
            _each(lambda slot, held, p: p[-1] - held),
        ),
        Mutant(
            "zero-for-empty",
            "an empty slot gives 0, which is the newest token's distance: give None",
            answers(
                distances=lambda positions: [0 if p < 0 else max(positions) - p for p in positions]
            ),
        ),
        Mutant(
            "empties-dropped",
            "empty slots are left out: give one value for each slot",
            answers(distances=lambda positions: [max(positions) - p for p in positions if p >= 0]),
        ),
        Mutant(
            "empty-counted",
            "an empty slot gets a distance, as if a token stood at -1",
            answers(distances=lambda positions: [max(positions) - p for p in positions]),
        ),
        Mutant(
            "positions",
            "positions are given where distances were asked for",
            _each(lambda slot, held, p: held),
        ),
    ),
)
