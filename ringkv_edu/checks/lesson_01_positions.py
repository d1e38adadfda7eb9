"""Lesson 01: the window's edge, empty slots, and distances from positions."""

from __future__ import annotations

from random import Random
from typing import Any

from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

Slots = list[int]

# ex05-edge: which keys a query sees


def sees(query_position: int, key_position: int, window: int) -> bool:
    """Say whether the key is at or before the query, and fewer than ``window`` back."""
    return 0 <= query_position - key_position < window


def _edge_cases(rng: Random) -> list[Case]:
    pairs = [(5, 4), (2, 4), (0, 1), (9, 1), (rng.randrange(4, 15), rng.randrange(2, 7))]
    return [_edge_case(*pair) for pair in pairs]


def _edge_case(query: int, window: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        seen = [key for key in range(query + 4) if answer.sees(query, key, window)]
        return {"visible keys": seen}

    return Case(f"the query at position {query}, window {window}", run)


EDGE = Exercise(
    id="ex05-edge",
    names=("sees",),
    cases=_edge_cases,
    reference=answers(sees),
    mutants=(
        Mutant(
            "too-wide",
            "the window is one too wide, as if written t - W: that is W + 1 keys",
            answers(sees=lambda q, k, w: 0 <= q - k <= w),
        ),
        Mutant(
            "not-itself",
            "a token does not see itself: the window is W tokens before it, the "
            "first of the two rules above",
            answers(sees=lambda q, k, w: 1 <= q - k <= w),
        ),
        Mutant(
            "too-narrow",
            "the window is one too narrow: W counts the token itself once",
            answers(sees=lambda q, k, w: 0 <= q - k < w - 1),
        ),
        Mutant(
            "swapped",
            "query and key are swapped: the distance is query minus key",
            answers(sees=lambda q, k, w: 0 <= k - q < w),
        ),
        Mutant(
            "itself-lost",
            "a token does not see itself, and the window is one too narrow: distance 0 counts",
            answers(sees=lambda q, k, w: 0 < q - k < w),
        ),
        Mutant(
            "future",
            "keys after the query are seen: it looks into the future",
            answers(sees=lambda q, k, w: q - k < w),
        ),
        Mutant(
            "both-sides",
            "the window reaches as far ahead as back: the distance has a sign",
            answers(sees=lambda q, k, w: abs(q - k) < w),
        ),
        Mutant(
            "no-window",
            "everything before the query is seen: the window is not used",
            answers(sees=lambda q, k, w: k <= q),
        ),
    ),
)

# ex06-empty: which slots may be read


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

# ex07-distance: how far back each slot's token lies


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
