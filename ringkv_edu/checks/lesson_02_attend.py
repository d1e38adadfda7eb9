"""Lesson 02: attention of one query over a full ring, and which outputs a value reaches."""

from __future__ import annotations

from random import Random

import numpy as np

from .code_case import code_case
from .lesson_02_attention import Array, attention, root
from .model import Case, Exercise, Mutant, answers

__all__ = ["ATTEND"]


def attend_full(q: Array, keys: Array, values: Array) -> Array:
    """Weigh the values by softmax(keys . q / sqrt(head_dim))."""
    return attention(q, keys, values)


def _attend_cases(rng: Random) -> list[Case]:
    shapes = [(4, 2), (1, 3), (4, 4), (3, 3), (7, 2), (rng.randrange(5, 10), rng.randrange(5, 9))]
    by_hand = (
        "q, keys, values = np.array([1.0]), np.array([[0.3], [0.0]]), np.array([[1.0], [0.0]]); "
        "out = attend_full(q, keys, values)"
    )
    drawn = [_drawn(rng.randrange(1000), *shape) for shape in shapes]
    large = _drawn(rng.randrange(1000), 5, 2, "1e5 * keys[0]")
    return [_attend_case(line) for line in (by_hand, *drawn, large)]


def _drawn(seed: int, slots: int, head_dim: int, q: str = "") -> str:
    q = q or f"numbers(rng, {head_dim})"
    return (
        f'rng = draw({seed}, "np3"); keys, values = numbers(rng, 2, {slots}, {head_dim}); '
        f"q = {q}; out = attend_full(q, keys, values)"
    )


def _attend_case(line: str) -> Case:
    return code_case(line, "attend_full", lambda space: {"result": space["out"]})


def _per_number(q: Array, keys: Array, values: Array) -> Array:
    scores = keys * q * root(keys)
    weights = np.exp(scores - scores.max(axis=0))
    out: Array = (weights * values).sum(axis=0) / weights.sum(axis=0)
    return out


def _transposed(q: Array, keys: Array, values: Array) -> Array:
    return attention(q @ keys, np.eye(len(q)), values)


def _transposed_dot(q: Array, keys: Array, values: Array) -> Array:
    return attention(np.dot(q, keys), np.eye(len(q)), values)


def _weights_as_row(q: Array, keys: Array, values: Array) -> Array:
    out: Array = (_weights_only(q, keys, values) * values).sum(axis=0)
    return out


def _summed_in_the_slots(q: Array, keys: Array, values: Array) -> Array:
    out: Array = (_weights_only(q, keys, values)[:, None] * values).sum(axis=1)
    return out


def _scaled_late(q: Array, keys: Array, values: Array) -> Array:
    return attention(q, keys, values, scale=lambda keys: 1.0) * root(keys)


def _linear(q: Array, keys: Array, values: Array) -> Array:
    with np.errstate(all="ignore"):
        scores = keys @ q * root(keys)
        out: Array = scores @ values / scores.sum()
    return out


def _best_only(q: Array, keys: Array, values: Array) -> Array:
    best: Array = values[(keys @ q).argmax()]
    return best


def _weights_only(q: Array, keys: Array, values: Array) -> Array:
    return attention(q, keys, np.eye(len(keys)))


ATTEND = Exercise(
    id="np3-attend",
    names=("attend_full",),
    cases=_attend_cases,
    reference=answers(attend_full),
    mutants=(
        Mutant(
            "no-scale",
            "the scores are not divided by sqrt(head_dim)",
            answers(attend_full=lambda q, k, v: attention(q, k, v, scale=lambda keys: 1.0)),
        ),
        Mutant(
            "wrong-scale",
            "the scores are divided by head_dim, not by its square root",
            answers(attend_full=lambda q, k, v: attention(q, k, v, lambda keys: 1 / keys.shape[1])),
        ),
        Mutant(
            "scale-of-slots",
            "the scale uses the number of slots, not head_dim",
            answers(attend_full=lambda q, k, v: attention(q, k, v, lambda keys: len(keys) ** -0.5)),
        ),
        Mutant(
            "multiplied",
            "the scores are multiplied by sqrt(head_dim) where they should be divided",
            answers(
                attend_full=lambda q, k, v: attention(q, k, v, lambda keys: keys.shape[1] ** 0.5)
            ),
        ),
        Mutant(
            "overflow",
            "the largest score is not subtracted before exp: exp of a large number is infinite, "
            "and infinity over infinity is NaN",
            answers(attend_full=lambda q, k, v: attention(q, k, v, top=lambda scores: 0.0)),
        ),
        Mutant(
            "unnormalised",
            "the weights are not divided by their sum",
            answers(attend_full=lambda q, k, v: attention(q, k, v, total=lambda weights: 1.0)),
        ),
        Mutant(
            "divided-by-count",
            "the weights are divided by the number of slots, not by their sum",
            answers(attend_full=lambda q, k, v: attention(q, k, v, total=len)),
        ),
        Mutant(
            "per-number",
            "every number of a key is weighed by itself: a key has one score, the sum over its "
            "numbers, and the softmax goes over the slots",
            answers(attend_full=_per_number),
        ),
        Mutant(
            "weights-as-row",
            "the weights, (slots,), meet the values, (slots, head_dim), on the wrong axis: take "
            "weights @ values, or weights[:, None] * values",
            answers(attend_full=_weights_as_row),
        ),
        Mutant(
            "mean",
            "the weighted values are averaged once more: their weights add up to 1, so take the "
            "sum over the slots, not the mean",
            answers(attend_full=lambda q, k, v: attention(q, k, v) / len(k)),
        ),
        Mutant(
            "summed-in-the-slots",
            "the weighted values are summed within each slot: the sum goes over the slots",
            answers(attend_full=_summed_in_the_slots),
        ),
        Mutant(
            "scaled-late",
            "the division by sqrt(head_dim) comes after the softmax: it belongs to the scores",
            answers(attend_full=_scaled_late),
        ),
        Mutant(
            "transposed",
            "q meets the slots where it should meet head_dim: keys @ q gives one score a slot",
            answers(attend_full=_transposed),
        ),
        Mutant(
            "keys-transposed",
            "q meets the slots where it should meet head_dim: keys @ q gives one score a slot",
            answers(attend_full=lambda q, k, v: attention(q, k.T, v, scale=lambda _: root(k))),
        ),
        Mutant(
            "values-first",
            "the weights meet head_dim where they should meet the slots: weights @ values",
            answers(attend_full=lambda q, k, v: v @ _weights_only(q, k, v)),
        ),
        Mutant(
            "transposed-dot",
            "q meets the slots where it should meet head_dim: keys @ q gives one score a slot",
            answers(attend_full=_transposed_dot),
        ),
        Mutant(
            "keys-averaged",
            "keys are averaged where values should be",
            answers(attend_full=lambda q, k, v: attention(q, k, k)),
        ),
        Mutant(
            "values-scored",
            "the query is compared with the values: it is the keys that answer it",
            answers(attend_full=lambda q, k, v: attention(q, v, v)),
        ),
        Mutant(
            "uniform",
            "every slot gets the same weight",
            answers(attend_full=lambda q, k, v: attention(0 * q, k, v)),
        ),
        Mutant(
            "linear", "the scores are used as weights without exp", answers(attend_full=_linear)
        ),
        Mutant(
            "best-only",
            "only the best match counts: softmax averages over all of them",
            answers(attend_full=_best_only),
        ),
        Mutant(
            "weights-only",
            "the weights are given back: the values are still to be averaged with them",
            answers(attend_full=_weights_only),
        ),
    ),
)
