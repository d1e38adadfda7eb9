"""Lesson 03: which tokens of a chunk stay in the ring, and where."""

from __future__ import annotations

from random import Random
from typing import Any

from . import lesson_03_stays_mistakes as wrong
from .guard import call
from .lesson_03_stays_mistakes import stays
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["STAYS"]


def _stays_cases(rng: Random) -> list[Case]:
    sizes = [(8, 3, 4, 0, 0), (0, 11, 4, 0, 0), (0, 11, 4, 2, 0), (0, 1, 4, 2, 1), (0, 3, 4, 2, 0)]
    sizes += [(1, 12, 4, 2, 0), (9, 3, 4, 2, 2), (10, 10, 4, 2, 2), (5, 1, 1, 0, 0)]
    sizes += [(7, 5, 1, 1, 0), (3, 20, 2, 3, 1), (4, 2, 2, 3, 0)]
    for _ in range(3):
        window, sinks, slack = rng.randrange(2, 6), rng.randrange(3), rng.randrange(3)
        sizes.append((rng.randrange(15), rng.randrange(1, 15), window, sinks, slack))
    return [_stays_case(*size) for size in sizes]


def _stays_case(seen: int, n: int, window: int, sinks: int, slack: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.stays, seen, n, window, sinks, slack)}

    return Case(f"stays({seen}, {n}, {window}, {sinks}, {slack})", run)


FROM_ZERO = "the positions are counted from 0, as in range(n): those of the chunk begin at `seen`"
IN_R = "the sinks' slots are counted in R: R is window + slack, and the sinks are beside it"
INSIDE = "sinks are counted inside the window: they have slots of their own beside it"
ORDER = "the pairs are right, but in another order: they go by position, the oldest first"

STAYS = Exercise(
    id="chunk1-stays",
    names=("stays",),
    cases=_stays_cases,
    reference=answers(stays),
    mutants=(
        Mutant(
            "every-token",
            "every token of the chunk is written: in a chunk longer than the ring, two tokens "
            "claim one slot",
            answers(stays=wrong.made_of(lambda seen, n, *rest: range(seen, seen + n))),
        ),
        Mutant(
            "first-kept",
            "the first tokens that fit are kept: the ring holds the last ones",
            answers(stays=wrong.made_of(wrong.first)),
        ),
        Mutant(
            "sinks-lost",
            "sinks are lost when the chunk is longer than the ring: they stay however long it is",
            answers(stays=wrong.made_of(wrong.last(sinks_too=False))),
        ),
        Mutant(
            "last-window",
            "only the last `window` tokens are kept: the ring has room for `slack` more",
            answers(stays=wrong.made_of(wrong.last_window)),
        ),
        Mutant(
            "no-slack",
            "slack is forgotten: R is window + slack, for what stays and for the modulo",
            answers(stays=wrong.made_of(wrong.last_window, wrong.ring_is_window)),
        ),
        Mutant(
            "modulo-window",
            "the modulo is taken with the window alone: the ring has window + slack slots",
            answers(stays=wrong.made_of(slot=wrong.ring_is_window)),
        ),
        Mutant(
            "place-in-chunk",
            "the slot is taken from the place in the chunk: token 0 of the chunk is at position "
            "`seen`, and the slot follows the position",
            answers(stays=wrong.made_of(slot=wrong.place_in_chunk)),
        ),
        Mutant(
            "sinks-rolled",
            "the modulo runs over all slots, so later tokens go round through the sinks' slots",
            answers(stays=wrong.made_of(slot=wrong.rolled)),
        ),
        Mutant(
            "other-rule",
            "the slot is sinks + p % R. A ring that always did so would work as well; the rule of "
            "this course, which its other code relies on, is sinks + (p - sinks) % R",
            answers(stays=wrong.made_of(slot=wrong.other_rule)),
        ),
        Mutant(
            "not-behind",
            "the ring's slots are counted from 0: they begin behind the sinks, at slot `sinks`",
            answers(stays=wrong.made_of(slot=wrong.behind_nothing)),
        ),
        Mutant(
            "no-modulo",
            "the position is taken as the slot: behind the sinks it goes round, modulo R",
            answers(stays=wrong.made_of(slot=wrong.no_modulo)),
        ),
        Mutant(
            "one-too-many",
            "one token too many stays, and it shares a slot with the newest",
            answers(stays=wrong.made_of(wrong.last(1))),
        ),
        Mutant(
            "one-too-few",
            "one token too few stays: of a ring of R slots one is left unused",
            answers(stays=wrong.made_of(wrong.last(-1))),
        ),
        Mutant("sinks-inside", INSIDE, answers(stays=wrong.made_of(wrong.sinks_inside))),
        Mutant(
            "sinks-again",
            "sinks that were stored long ago are listed: only tokens of this chunk are asked for",
            answers(stays=wrong.made_of(wrong.sinks_again)),
        ),
        Mutant(
            "sinks-twice",
            "a sink that is also among the last R positions is listed twice",
            answers(stays=wrong.made_of(wrong.sinks_twice)),
        ),
        Mutant(
            "whole-text",
            "tokens from before the chunk are listed: only tokens of this chunk are asked for",
            answers(stays=wrong.made_of(wrong.whole_text)),
        ),
        Mutant("from-zero", FROM_ZERO, answers(stays=wrong.from_zero)),
        Mutant("from-zero-end", FROM_ZERO, answers(stays=wrong.made_of(wrong.range_n))),
        Mutant(
            "chunk-alone",
            "the chunk is treated as a text of its own: its first tokens are no sinks, and its "
            "slots follow from positions, not from places in the chunk",
            answers(stays=wrong.chunk_alone),
        ),
        *(
            Mutant(f"ring-is-slots{style}", IN_R, answers(stays=wrong.made_of(stay, slot)))
            for style, stay, slot in (
                ("", wrong.ring_and_sinks, wrong.ring_is_slots),
                ("-modulo", wrong.stay, wrong.ring_is_slots),
                ("-rolled", wrong.ring_and_sinks, wrong.rolled),
                ("-rolled-last", wrong.last_slots, wrong.rolled),
                ("-last", wrong.last_slots, wrong.ring_is_slots),
            )
        ),
        Mutant("sinks-inside-modulo", INSIDE, answers(stays=wrong.sinks_inside_modulo)),
        Mutant(
            "sinks-in-last",
            "the last R positions and one more for each sink are kept: two of these then claim "
            "one slot",
            answers(stays=wrong.made_of(wrong.ring_and_sinks)),
        ),
        Mutant(
            "no-sinks",
            "the sinks are left out altogether: they stay, in slots of their own, before the ring",
            answers(stays=wrong.made_of(wrong.last(sinks_too=False), wrong.plain_ring)),
        ),
        Mutant(
            "one-more-sink",
            "there is one sink too many: the sinks are the positions below `sinks`",
            answers(stays=wrong.made_of(wrong.one_more_sink)),
        ),
        Mutant(
            "slots-only",
            "only the slots are given: each entry is a pair (position, slot)",
            answers(stays=wrong.slots_only),
        ),
        Mutant(
            "positions-only",
            "only the positions are given: each entry is a pair (position, slot)",
            answers(stays=wrong.positions_only),
        ),
        Mutant(
            "one-past",
            "a position behind the chunk is listed: its last token is at `seen + n - 1`",
            answers(stays=wrong.made_of(wrong.one_past)),
        ),
        Mutant("newest-first", ORDER, answers(stays=lambda *sizes: stays(*sizes)[::-1])),
        Mutant("slot-order", ORDER, answers(stays=wrong.by_slot)),
        Mutant("first-written-order", ORDER, answers(stays=wrong.by_first_write)),
        Mutant(
            "swapped", "slot and position are swapped in each pair", answers(stays=wrong.swapped)
        ),
    ),
)
