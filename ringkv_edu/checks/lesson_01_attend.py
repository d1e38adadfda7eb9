"""Lesson 01: softmax attention over a list of entries, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

from ..given import Entry, token
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

Vector = list[float]


def attend(query: Vector, entries: list[Entry]) -> Vector | None:
    """Weigh the values by softmax(query . key / sqrt(head_dim)); None when there are none."""
    return _attend(query, entries)


def _attend(
    query: Vector,
    entries: list[Entry],
    scale: Callable[[int], float] = lambda dim: 1 / math.sqrt(dim),
    shift: Callable[[Vector], float] = max,
    total: Callable[[Vector], float] = sum,
) -> Vector | None:
    """Attend, with the steps in which the mutants differ left open."""
    if not entries:
        return None
    scores = [scale(len(query)) * _dot(query, entry.key) for entry in entries]
    weights = [math.exp(score - shift(scores)) for score in scores]
    lanes = range(len(entries[0].value))
    return [
        _dot(weights, [entry.value[lane] for entry in entries]) / total(weights) for lane in lanes
    ]


def _dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _attend_cases(rng: Random) -> list[Case]:
    shapes = [(1, 2), (2, 2), (4, 2), (4, 3), (6, 4), (5, rng.randrange(2, 6))]
    cases = [_attend_case(rng, *shape) for shape in shapes]
    return [*cases, _attend_case(rng, 0, 2), _attend_case(rng, 3, 2, stretch=2000.0)]


def _attend_case(rng: Random, count: int, dim: int, stretch: float = 1.0) -> Case:
    query = [round(rng.uniform(0.5, 2), 1) * stretch for _ in range(dim)]
    entries = []
    for slot in range(count):
        key, value = token(rng, dim)
        entries.append(Entry([abs(x) + 0.1 for x in key], value, slot, slot, slot))

    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.attend, list(query), list(entries))}

    size = "scores in the thousands" if stretch > 1 else f"query {query}"
    return Case(f"{count} entries, head_dim {dim}, {size}", run)


def _keys_averaged(query: Vector, entries: list[Entry]) -> Vector | None:
    return attend(query, [entry._replace(value=entry.key) for entry in entries])


def _zeros_when_empty(query: Vector, entries: list[Entry]) -> Vector | None:
    return attend(query, entries) if entries else [0.0] * len(query)


def _uniform(query: Vector, entries: list[Entry]) -> Vector | None:
    return attend([0.0] * len(query), entries)


def _values_scored(query: Vector, entries: list[Entry]) -> Vector | None:
    return attend(query, [entry._replace(key=entry.value) for entry in entries])


def _best_only(query: Vector, entries: list[Entry]) -> Vector | None:
    return max(entries, key=lambda entry: _dot(query, entry.key)).value if entries else None


def _linear(query: Vector, entries: list[Entry]) -> Vector | None:
    if not entries:
        return None
    scores = [_dot(query, entry.key) for entry in entries]
    lanes = range(len(entries[0].value))
    return [_dot(scores, [e.value[lane] for e in entries]) / sum(scores) for lane in lanes]


ATTEND = Exercise(
    id="ex04-attend",
    names=("attend",),
    cases=_attend_cases,
    reference=answers(attend),
    mutants=(
        Mutant(
            "no-scale",
            "the scores are not divided by sqrt(head_dim)",
            answers(attend=lambda q, e: _attend(q, e, scale=lambda dim: 1.0)),
        ),
        Mutant(
            "wrong-scale",
            "the scores are divided by head_dim, not by its square root",
            answers(attend=lambda q, e: _attend(q, e, scale=lambda dim: 1 / dim)),
        ),
        Mutant(
            "scale-of-count",
            "the scale uses the number of entries, not head_dim",
            answers(attend=lambda q, e: _attend(q, e, lambda dim: 1 / math.sqrt(len(e)))),
        ),
        Mutant(
            "overflow",
            "the largest score is not subtracted before exp, and exp of a large number overflows",
            answers(attend=lambda q, e: _attend(q, e, shift=lambda s: 0.0)),
        ),
        Mutant(
            "unnormalised",
            "the weights are not divided by their sum",
            answers(attend=lambda q, e: _attend(q, e, total=lambda weights: 1.0)),
        ),
        Mutant(
            "keys-averaged",
            "keys are averaged where values should be",
            answers(attend=_keys_averaged),
        ),
        Mutant(
            "uniform",
            "every entry gets the same weight",
            answers(attend=_uniform),
        ),
        Mutant(
            "values-scored",
            "the query is compared with the values: it is the keys that answer it",
            answers(attend=_values_scored),
        ),
        Mutant(
            "divided-by-count",
            "the weights are divided by the number of entries, not by their sum",
            answers(attend=lambda q, e: _attend(q, e, total=lambda weights: len(weights))),
        ),
        Mutant(
            "best-only",
            "only the best match counts: softmax averages over all of them",
            answers(attend=_best_only),
        ),
        Mutant("linear", "the scores are used as weights without exp", answers(attend=_linear)),
        Mutant(
            "zeros",
            "an empty cache gives zeros: there is nothing to average, so give None",
            answers(attend=_zeros_when_empty),
        ),
    ),
)
