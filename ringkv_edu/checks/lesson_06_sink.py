"""Lesson 06: a learned sink: a logit that takes part in the softmax and gives no value."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from .lesson_06_common import line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["SINK"]

Array = npt.NDArray[Any]
Logit = Callable[[float, Array], float]


def attend_sink(q: Array, keys: Array, values: Array, sink: float) -> Array:
    """Attend to n keys and to a logit that has neither a key nor a value."""
    return sinking(q, keys, values, sink)


def scores_of(q: Array, keys: Array) -> Array:
    return np.asarray(keys @ q * float(len(q)) ** -0.5)


def sinking(
    q: Array,
    keys: Array,
    values: Array,
    sink: float,
    logit: Logit = lambda sink, q: sink,
    value: Callable[[Array], Array | float] = lambda values: 0.0,
    scale: Callable[[Array, Array], Array] = scores_of,
) -> Array:
    """Attend with parts that may be wrong: the logit, what it gives, the scores."""
    scores = np.append(scale(q, keys), logit(sink, q))
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    return np.asarray(weights[:-1] @ values + weights[-1] * value(values))


def _changed(**parts: Any) -> dict[str, Any]:
    return answers(attend_sink=lambda *given: sinking(*given, **parts))


def _ignored(q: Array, keys: Array, values: Array, sink: float) -> Array:
    if not len(keys):
        return np.zeros(len(q))
    return sinking(q, keys, values, -np.inf)


def _as_weight(q: Array, keys: Array, values: Array, sink: float) -> Array:
    scores = scores_of(q, keys)
    weights = np.exp(scores - scores.max(initial=-np.inf))
    return np.asarray(weights @ values / (weights.sum() + sink))


def _no_maximum(q: Array, keys: Array, values: Array, sink: float) -> Array:
    with np.errstate(all="ignore"):
        weights = np.exp(scores_of(q, keys))
        return np.asarray(weights @ values / (weights.sum() + np.exp(sink)))


def _unshifted(q: Array, keys: Array, values: Array, sink: float) -> Array:
    """Shift the scores by their maximum, and forget to shift the sink."""
    with np.errstate(all="ignore"):
        scores = scores_of(q, keys)
        weights = np.exp(scores - scores.max(initial=0))
        return np.asarray(weights @ values / (weights.sum() + np.exp(sink)))


def _of_none(q: Array, keys: Array, values: Array, sink: float) -> Array:
    scores = scores_of(q, keys)
    most = scores.max()
    weights = np.exp(scores - most)
    return np.asarray(weights @ values / (weights.sum() + np.exp(sink - most)))


def _subtracted(q: Array, keys: Array, values: Array, sink: float) -> Array:
    return sinking(q, keys, values, -sink)


def _with_weight(q: Array, keys: Array, values: Array, sink: float) -> Array:
    scores = np.append(scores_of(q, keys), sink)
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    return np.append(weights[:-1] @ values, weights[-1])


def _weights(q: Array, keys: Array, values: Array, sink: float) -> Array:
    return sinking(q, keys, np.eye(len(keys)), sink)


def _sink_cases(rng: Random) -> list[Case]:
    runs = [
        (1, 2, 0.0),
        (3, 2, 1.5),
        (4, 4, -2.0),
        (2, 4, rng.randrange(-20, 20) / 10 + 0.05),
        (rng.randrange(3, 8), 6, rng.randrange(10, 40) / 10),
        (3, 2, 40.0),  # nearly all goes to the sink
        (3, 2, -800.0),  # nothing does
        (0, 2, 0.5),  # nothing to attend to
    ]
    large = "np.array([900.0, 0.0]), np.eye(2), np.array([[1.5, -2.0], [0.5, 1.0]])"
    return [
        *(_case(rng.randrange(1000), *run) for run in runs),
        line_case(f"attend_sink({large}, 636)", "attend_sink"),  # the largest score is 636.4
        line_case(f"attend_sink({large.replace('900', '1800')}, 1273)", "attend_sink"),
    ]


def _case(seed: int, n: int, d: int, sink: float) -> Case:
    line = f"attend_sink(numbers(rng, {d}), *numbers(rng, 2, {n}, {d}), {sink:g})"
    return line_case(line, "attend_sink", f'rng = draw({seed}, "ps7"); ')


SINK = Exercise(
    id="ps7-sink",
    names=("attend_sink",),
    cases=_sink_cases,
    reference=answers(attend_sink),
    mutants=(
        Mutant(
            "no-effect",
            "the other weights still add up to 1: the sink is left out, or what remains is divided "
            "by its sum again, or the sink is added to every score, where it cancels",
            answers(attend_sink=_ignored),
        ),
        Mutant(
            "zero-logit",
            "the sink always has the score 0, as a key of zeros would: its score is `sink`",
            _changed(logit=lambda sink, q: 0.0),
        ),
        Mutant(
            "scaled",
            "the sink is divided by sqrt(d) like a dot product: it is a score already",
            _changed(logit=lambda sink, q: sink * float(len(q)) ** -0.5),
        ),
        Mutant(
            "subtracted",
            "the sink has the wrong sign: a large one must leave the values little weight",
            _changed(logit=lambda sink, q: -sink),
        ),
        Mutant(
            "not-exp",
            "the sink itself is added to the sum of the weights: it is a score, so exp(sink) is",
            answers(attend_sink=_as_weight),
        ),
        Mutant(
            "gives-mean",
            "the sink gives the mean of the values: it gives nothing",
            _changed(value=lambda values: values.mean(axis=0) if len(values) else 0.0),
        ),
        Mutant(
            "gives-newest",
            "the sink gives the last value: it gives nothing",
            _changed(value=lambda values: values[-1] if len(values) else 0.0),
        ),
        Mutant(
            "gives-sink",
            "the sink gives its own score as a value: it gives nothing",
            answers(attend_sink=lambda q, k, v, s: sinking(q, k, v, s, value=lambda values: s)),
        ),
        Mutant(
            "gives-one",
            "the sink gives ones: it gives nothing",
            _changed(value=lambda values: 1.0),
        ),
        Mutant(
            "no-maximum",
            "the largest score is not subtracted before exp: large scores overflow",
            answers(attend_sink=_no_maximum),
        ),
        Mutant(
            "sink-not-shifted",
            "the largest score is subtracted from the scores, and not from the sink: all of them "
            "have to be shifted alike",
            answers(attend_sink=_unshifted),
        ),
        Mutant(
            "of-none",
            "without any key there is no largest score: the sink takes part, so let it in before "
            "you look for the largest",
            answers(attend_sink=_of_none),
        ),
        Mutant(
            "no-scale",
            "the scores are not scaled by 1 / sqrt(d)",
            _changed(scale=lambda q, keys: keys @ q),
        ),
        Mutant(
            "scale-d",
            "the scores are divided by d, not by its square root",
            _changed(scale=lambda q, keys: keys @ q / len(q)),
        ),
        Mutant(
            "with-weight",
            "the sink's weight is given, too: give the output alone",
            answers(attend_sink=_with_weight),
        ),
        Mutant(
            "weights-alone",
            "the weights are given: the output is the values, each times its weight, added up",
            answers(attend_sink=_weights),
        ),
    ),
)
