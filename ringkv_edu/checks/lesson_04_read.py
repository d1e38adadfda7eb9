"""Lesson 04: scores over a ring of unrotated keys."""

from __future__ import annotations

from random import Random

from ..given_numpy import RingArrays, filled_arrays, numbers
from . import lesson_04_read_mistakes as wrong
from .lesson_04_common import array, line_case
from .lesson_04_read_mistakes import count, rank, scores, with_angle, with_empty, with_scale
from .model import Case, Exercise, Mutant, answers

__all__ = ["READ"]


def _read_cases(rng: Random) -> list[Case]:
    rings = [
        filled_arrays(1, rng, 4),
        filled_arrays(3, rng, 4),
        filled_arrays(5, rng, 4),  # just wrapped
        filled_arrays(4 * rng.randrange(2, 6) + rng.choice([1, 2, 3]), rng, 4, head_dim=4),
        filled_arrays(7, rng, 1, head_dim=4),
        filled_arrays(3 * rng.randrange(3, 9) + rng.choice([1, 2]) + 2, rng, 3, sinks=2),
        filled_arrays(11, rng, 4, taken_back=2),  # the newest is not the last written
        filled_arrays(10, rng, 4),
    ]
    rings[-1].positions[3] = -1  # emptied: a gap in the text, and the old key is still there
    return [_read_case(rng, ring) for ring in rings]


def _read_case(rng: Random, ring: RingArrays) -> Case:
    q, keys = numbers(rng, ring.keys.shape[2]), ring.keys[0]
    given = ", ".join(array(x.tolist()) for x in (q, keys, ring.positions))
    return line_case(f"scores({given})", "scores")


READ = Exercise(
    id="rope3-read",
    names=("scores",),
    cases=_read_cases,
    reference=answers(scores),
    mutants=(
        Mutant(
            "slot-for-both",
            "the slot is used as the position, for query and keys alike: right until the first "
            "wrap, then some keys seem to lie in the future",
            with_angle(lambda slot, held, p: p.index(max(p)) - slot),
        ),
        Mutant(
            "slot-for-keys",
            "the slot is used as the keys' position: a key is turned to where it lies in memory",
            with_angle(lambda slot, held, p: max(p) - slot),
        ),
        Mutant(
            "slot-for-query",
            "the query is turned to the slot of its token, the keys to their positions",
            with_angle(lambda slot, held, p: p.index(max(p)) - held),
        ),
        Mutant(
            "rank-for-keys",
            "the keys are turned to their ranks and the query to its position: the two count "
            "from different origins",
            with_angle(lambda slot, held, p: max(p) - rank(held, p)),
        ),
        Mutant(
            "rank-for-both",
            "ranks are used for query and keys: the same distances only while no position "
            "between two stored tokens is missing",
            with_angle(lambda slot, held, p: count(p) - 1 - rank(held, p)),
        ),
        Mutant(
            "query-from-count",
            "the query's position is the number of stored tokens less 1: that stops growing when "
            "the ring is full",
            with_angle(lambda slot, held, p: count(p) - 1 - held),
        ),
        Mutant(
            "query-from-slots",
            "the query's position is the number of slots less 1: the stored positions tell it",
            with_angle(lambda slot, held, p: len(p) - 1 - held),
        ),
        Mutant(
            "as-they-lie",
            "the keys are taken to lie in the order of the text, the newest in the last slot",
            with_angle(lambda slot, held, p: len(p) - 1 - slot),
        ),
        Mutant(
            "one-too-far",
            "the query stands one place too far: it belongs to the newest stored token",
            with_angle(lambda slot, held, p: max(p) + 1 - held),
        ),
        Mutant(
            "last-slot",
            "the last slot's token is taken for the newest: in a ring it may lie anywhere",
            with_angle(lambda slot, held, p: p[-1] - held),
        ),
        Mutant(
            "backwards",
            "the distance has the wrong sign: query minus key",
            with_angle(lambda slot, held, p: held - max(p)),
        ),
        Mutant(
            "query-not-turned",
            "the keys are turned and the query is not",
            with_angle(lambda slot, held, p: -held),
        ),
        Mutant(
            "keys-not-turned",
            "the query is turned and the keys are not",
            with_angle(lambda slot, held, p: max(p)),
        ),
        Mutant(
            "not-turned",
            "nothing is turned, or everything by the same angle: every key seems to lie 0 back",
            with_angle(lambda slot, held, p: 0),
        ),
        Mutant("no-scale", "the scores are not divided by sqrt(d)", with_scale(lambda keys: 1.0)),
        Mutant(
            "scale-of-slots",
            "the scale uses the number of slots, not d",
            with_scale(lambda keys: float(len(keys)) ** -0.5),
        ),
        Mutant(
            "scale-d",
            "the scores are divided by d, not by its square root",
            with_scale(lambda keys: 1 / keys.shape[1]),
        ),
        Mutant(
            "empties-scored",
            "an empty slot is scored like the others, by what happens to lie in it, and softmax "
            "gives that a weight: it must be -inf",
            answers(scores=wrong.empties_scored),
        ),
        Mutant(
            "zero-for-empty",
            "an empty slot gets the score 0, and softmax gives that a weight: it must be -inf",
            with_empty(0.0),
        ),
        Mutant(
            "billion-for-empty",
            "an empty slot gets a large negative number: give -inf, -np.inf in code",
            with_empty(-1e9),
        ),
        Mutant(
            "empty-by-key",
            "a slot is taken for empty when its key is all zeros: an empty slot may hold "
            "anything, and position -1 says that it is empty",
            answers(scores=wrong.empty_by_key),
        ),
        Mutant(
            "whole-numbers",
            "the scores are put into an array of the positions' kind: whole numbers cut the "
            "fractions off and have no -inf (np.zeros(len(positions)) holds floats)",
            answers(scores=wrong.whole_numbers),
        ),
        Mutant(
            "in-place",
            "q, keys or positions is written over: the caller still needs them",
            answers(scores=wrong.in_place),
        ),
        Mutant(
            "zero-dropped",
            "position 0 is taken for empty: it is a real token",
            answers(scores=wrong.zero_dropped),
        ),
        Mutant(
            "none-for-empty",
            "an empty slot gives None: give -inf, which softmax turns into the weight 0",
            answers(scores=wrong.none_for_empty),
        ),
        Mutant(
            "empties-dropped",
            "empty slots are left out: give one score for each slot",
            answers(scores=wrong.empties_dropped),
        ),
        Mutant(
            "in-order-of-time",
            "the scores stand in the order of the text: give them in slot order",
            answers(scores=wrong.in_order_of_time),
        ),
        Mutant(
            "softmax",
            "the softmax is taken, too: here the scores are asked for",
            answers(scores=wrong.softmax),
        ),
    ),
)
