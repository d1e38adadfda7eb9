"""Lesson 01: which slots may be read."""

from __future__ import annotations

from random import Random
from typing import Any

from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["EMPTY"]

Slots = list[int]


def readable_slots(positions: Slots, query_position: int, window: int) -> Slots:
    """Give the slots whose stored position the query sees; -1 marks an empty slot."""
    return [
        slot
        for slot, held in enumerate(positions)
        if held >= 0 and 0 <= query_position - held < window
    ]


def _empty_cases(rng: Random) -> list[Case]:
    states = [
        ([-1, -1, -1, -1], 0, 4),
        ([0, -1, -1, -1], 0, 4),
        ([0, 1, -1, -1], 1, 4),
        ([4, 1, 2, 3], 4, 4),
        ([8, 9, 6, 7], 9, 4),
        ([-1, 5, -1, 3], 5, 4),  # holes: two tokens were taken back
        ([6, 7, 2, 3, 4, 5], 7, 4),  # two slots more than the window
        ([4, 5, 6, 3], 4, 4),  # two tokens after the query are stored already
    ]
    window, newest = rng.randrange(2, 6), rng.randrange(6, 20)
    held = list(range(max(0, newest - window - 1), newest + 1))
    rng.shuffle(held)
    return [_empty_case(*state) for state in [*states, ([-1, *held], newest, window)]]


def _empty_case(positions: Slots, query: int, window: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.readable_slots, list(positions), query, window)}

    return Case(f"slots hold {positions}, the query at {query}, window {window}", run)


def _pick(test: Any) -> Any:
    """Make a mutant of ``readable_slots`` from its test."""
    return answers(
        readable_slots=lambda positions, query, window: [
            slot for slot, held in enumerate(positions) if test(held, query, window)
        ]
    )


EMPTY = Exercise(
    id="ex06-empty",
    names=("readable_slots",),
    cases=_empty_cases,
    reference=answers(readable_slots),
    mutants=(
        Mutant(
            "empty-passes",
            "an empty slot is read: -1 looks like a position just before 0, so "
            "it must be ruled out by itself",
            _pick(lambda p, q, w: 0 <= q - p < w),
        ),
        Mutant(
            "counter",
            "the slots are counted off, 0 to the query's position: with holes, or "
            "after a wrap, only the stored positions tell",
            answers(
                readable_slots=lambda positions, query, window: list(
                    range(min(query + 1, len(positions)))
                )
            ),
        ),
        Mutant(
            "zero-dropped",
            "position 0 is taken for empty: it is a real token",
            _pick(lambda p, q, w: p > 0 and 0 <= q - p < w),
        ),
        Mutant(
            "stored-is-enough",
            "every slot in use is read, also those that left the window or lie in the future",
            _pick(lambda p, q, w: p >= 0),
        ),
        Mutant(
            "future",
            "keys after the query are read: it looks into the future",
            _pick(lambda p, q, w: p >= 0 and q - p < w),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide, as if written t - W",
            _pick(lambda p, q, w: p >= 0 and 0 <= q - p <= w),
        ),
        Mutant(
            "too-narrow",
            "the window is one too narrow: W counts the token itself once",
            _pick(lambda p, q, w: p >= 0 and 0 <= q - p < w - 1),
        ),
        Mutant(
            "not-itself",
            "a token does not see itself",
            _pick(lambda p, q, w: p >= 0 and 1 <= q - p < w),
        ),
        Mutant(
            "no-window",
            "everything at or before the query is read: the window is not used",
            _pick(lambda p, q, w: 0 <= p <= q),
        ),
        Mutant(
            "mask",
            "a True or False is given for each slot, where a list of slots was asked for",
            answers(
                readable_slots=lambda positions, query, window: [
                    p >= 0 and 0 <= query - p < window for p in positions
                ]
            ),
        ),
        Mutant(
            "positions",
            "positions are given where slots were asked for",
            answers(
                readable_slots=lambda positions, query, window: [
                    p for p in positions if p >= 0 and 0 <= query - p < window
                ]
            ),
        ),
    ),
)
