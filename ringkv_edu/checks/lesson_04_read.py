"""Lesson 04: scores over a ring of unrotated keys."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import filled_arrays, numbers
from ..given_rope import turned
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["READ"]

Array = npt.NDArray[Any]
Angle = Callable[[int, int, list[int]], float]  # of a slot, its position, all positions


def scores(q: Array, keys: Array, positions: Array) -> Array:
    """Give the scaled score of the newest token's query in each slot; -inf where it is empty."""
    return _scores(q, keys, positions, lambda slot, held, p: max(p) - held)


def _scores(
    q: Array,
    keys: Array,
    positions: Array,
    angle: Angle,
    scale: Callable[[Array], float] = lambda keys: float(keys.shape[1]) ** -0.5,
    empty: float = -np.inf,
) -> Array:
    """Turn the query by ``angle`` and no key: all that counts is the angle between them."""
    held = [int(p) for p in positions]
    out = [
        scale(keys) * float(turned(q, angle(slot, p, held)) @ keys[slot]) if p >= 0 else empty
        for slot, p in enumerate(held)
    ]
    return np.array(out)


def _angle(angle: Angle) -> dict[str, Any]:
    return answers(scores=lambda q, keys, positions: _scores(q, keys, positions, angle))


def _right(slot: int, held: int, p: list[int]) -> float:
    return max(p) - held


def _scale(scale: Callable[[Array], float]) -> dict[str, Any]:
    return answers(scores=lambda q, keys, p: _scores(q, keys, p, _right, scale))


def _count(p: list[int]) -> int:
    return sum(held >= 0 for held in p)


def _rank(held: int, p: list[int]) -> int:
    return sum(0 <= other < held for other in p)


def _in_order_of_time(q: Array, keys: Array, positions: Array) -> Array:
    order = np.argsort(positions)
    return scores(q, keys, positions)[order]


def _empties_dropped(q: Array, keys: Array, positions: Array) -> Array:
    return scores(q, keys, positions)[np.asarray(positions) >= 0]


def _zero_dropped(q: Array, keys: Array, positions: Array) -> Array:
    return np.where(np.asarray(positions) > 0, scores(q, keys, positions), -np.inf)


def _none_for_empty(q: Array, keys: Array, positions: Array) -> list[float | None]:
    return [x if np.isfinite(x) else None for x in scores(q, keys, positions).tolist()]


def _softmax(q: Array, keys: Array, positions: Array) -> Array:
    found = scores(q, keys, positions)
    weights = np.exp(found - found.max())
    return np.asarray(weights / weights.sum())


def _read_cases(rng: Random) -> list[Case]:
    rings = [
        (1, 4, 2, 0, 0),
        (3, 4, 2, 0, 0),
        (5, 4, 2, 0, 0),  # just wrapped
        (4 * rng.randrange(2, 6) + rng.choice([1, 2, 3]), 4, 4, 0, 0),
        (7, 1, 4, 0, 0),
        (3 * rng.randrange(3, 9) + rng.choice([1, 2]) + 2, 3, 2, 2, 0),  # with two sinks
        (11, 4, 2, 0, 2),  # two tokens taken back: a hole, and the newest is not the last written
    ]
    return [_read_case(rng, *ring) for ring in rings]


def _read_case(rng: Random, seen: int, window: int, d: int, sinks: int, back: int) -> Case:
    ring = filled_arrays(seen, rng, window, head_dim=d, sinks=sinks, taken_back=back)
    q, keys, positions = numbers(rng, d), ring.keys[0], ring.positions

    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.scores, q.copy(), keys.copy(), positions.copy())}

    given = f"q {q.tolist()}, keys {keys.tolist()}, positions {positions.tolist()}"
    return Case(given, run)


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
            _angle(lambda slot, held, p: p.index(max(p)) - slot),
        ),
        Mutant(
            "slot-for-keys",
            "the slot is used as the keys' position: a key is turned to where it lies in memory",
            _angle(lambda slot, held, p: max(p) - slot),
        ),
        Mutant(
            "slot-for-query",
            "the query is turned to the slot of its token, the keys to their positions",
            _angle(lambda slot, held, p: p.index(max(p)) - held),
        ),
        Mutant(
            "rank-for-keys",
            "the keys are turned to their ranks and the query to its position: the two count "
            "from different origins",
            _angle(lambda slot, held, p: max(p) - _rank(held, p)),
        ),
        Mutant(
            "rank-for-both",
            "ranks are used for query and keys: the same distances only while no position "
            "between two stored tokens is missing",
            _angle(lambda slot, held, p: _count(p) - 1 - _rank(held, p)),
        ),
        Mutant(
            "query-from-count",
            "the query's position is the number of stored tokens less 1: that stops growing when "
            "the ring is full",
            _angle(lambda slot, held, p: _count(p) - 1 - held),
        ),
        Mutant(
            "query-from-slots",
            "the query's position is the number of slots less 1: the stored positions tell it",
            _angle(lambda slot, held, p: len(p) - 1 - held),
        ),
        Mutant(
            "as-they-lie",
            "the keys are taken to lie in the order of the text, the newest in the last slot",
            _angle(lambda slot, held, p: len(p) - 1 - slot),
        ),
        Mutant(
            "one-too-far",
            "the query stands one place too far: it belongs to the newest stored token",
            _angle(lambda slot, held, p: max(p) + 1 - held),
        ),
        Mutant(
            "last-slot",
            "the last slot's token is taken for the newest: in a ring it may lie anywhere",
            _angle(lambda slot, held, p: p[-1] - held),
        ),
        Mutant(
            "backwards",
            "the distance has the wrong sign: query minus key",
            _angle(lambda slot, held, p: held - max(p)),
        ),
        Mutant(
            "query-not-turned",
            "the keys are turned and the query is not",
            _angle(lambda slot, held, p: -held),
        ),
        Mutant(
            "keys-not-turned",
            "the query is turned and the keys are not",
            _angle(lambda slot, held, p: max(p)),
        ),
        Mutant(
            "not-turned",
            "nothing is turned, or everything by the same angle: every key seems to lie 0 back",
            _angle(lambda slot, held, p: 0),
        ),
        Mutant("no-scale", "the scores are not divided by sqrt(d)", _scale(lambda keys: 1.0)),
        Mutant(
            "scale-of-slots",
            "the scale uses the number of slots, not d",
            _scale(lambda keys: float(len(keys)) ** -0.5),
        ),
        Mutant(
            "scale-d",
            "the scores are divided by d, not by its square root",
            _scale(lambda keys: 1 / keys.shape[1]),
        ),
        Mutant(
            "zero-for-empty",
            "an empty slot gets the score of its zero key, 0, and softmax gives that a weight: "
            "it must be -inf",
            answers(scores=lambda q, keys, p: _scores(q, keys, p, _right, empty=0.0)),
        ),
        Mutant(
            "zero-dropped",
            "position 0 is taken for empty: it is a real token",
            answers(scores=_zero_dropped),
        ),
        Mutant(
            "none-for-empty",
            "an empty slot gives None: give -inf, which softmax turns into the weight 0",
            answers(scores=_none_for_empty),
        ),
        Mutant(
            "empties-dropped",
            "empty slots are left out: give one score for each slot",
            answers(scores=_empties_dropped),
        ),
        Mutant(
            "in-order-of-time",
            "the scores stand in the order of the text: give them in slot order",
            answers(scores=_in_order_of_time),
        ),
        Mutant(
            "softmax",
            "the softmax is taken, too: here the scores are asked for",
            answers(scores=_softmax),
        ),
    ),
)
