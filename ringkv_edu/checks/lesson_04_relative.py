"""Lesson 04: the score of a query and a key with one turn."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import numbers
from ..given_rope import turned
from .lesson_04_common import array, line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["RELATIVE"]

Array = npt.NDArray[Any]


def score(q: Array, k: Array, query_position: int, key_position: int) -> float:
    """Give the dot product of the turned query and the turned key, with one turn."""
    return float(turned(q, query_position - key_position) @ k)


def _angle(angle: Callable[[int, int], float]) -> dict[str, Any]:
    """Make a mutant of ``score`` that turns the query by ``angle(n, m)``, and the key not."""
    return answers(score=lambda q, k, n, m: float(turned(q, angle(n, m)) @ k))


def _in_place(q: Array, k: Array, n: int, m: int) -> float:
    q[:] = turned(q, n - m)
    return float(q @ k)


def _relative_cases(rng: Random) -> list[Case]:
    cases = [
        _relative_case(np.array([1.0, 0.0]), np.array([1.0, 0.0]), 3, 2),
        _relative_case(numbers(rng, 2), numbers(rng, 2), 0, 0),
    ]
    far = rng.randrange(500, 3000)
    near = rng.randrange(2, 9)
    asked = [(5, 5), (7, 3), (far, far - near), (near + 7, 7), (3, 8), (0, near)]
    for place, (n, m) in enumerate(asked):
        d = (2, 4, 6)[place % 3]
        cases.append(_relative_case(numbers(rng, d), numbers(rng, d), n, m))
    return cases


def _relative_case(q: Array, k: Array, n: int, m: int) -> Case:
    return line_case(f"score({array(q.tolist())}, {array(k.tolist())}, {n}, {m})", "score")


RELATIVE = Exercise(
    id="rope2-relative",
    names=("score",),
    cases=_relative_cases,
    reference=answers(score),
    mutants=(
        Mutant(
            "backwards",
            "the turn goes the wrong way: the query is turned by query_position - key_position, "
            "or the key by minus that",
            _angle(lambda n, m: m - n),
        ),
        Mutant(
            "query-alone",
            "the query is turned by its own position and the key not at all: the key's position "
            "never enters",
            _angle(lambda n, m: n),
        ),
        Mutant(
            "key-alone",
            "the key is turned by its own position and the query not at all: the query's position "
            "never enters",
            _angle(lambda n, m: -m),
        ),
        Mutant(
            "not-turned",
            "nothing is turned, or both vectors by the same angle, which comes to the same",
            _angle(lambda n, m: 0),
        ),
        Mutant(
            "one-too-far",
            "the distance is one too large: the query stands one place too far",
            _angle(lambda n, m: n - m + 1),
        ),
        Mutant(
            "one-too-near",
            "the distance is one too small: a token is 0 away from itself",
            _angle(lambda n, m: n - m - 1),
        ),
        Mutant(
            "added",
            "the positions are added: their difference is what counts",
            _angle(lambda n, m: n + m),
        ),
        Mutant(
            "twice",
            "the query is turned forwards and the key backwards: that is twice the distance, "
            "and one turn is enough",
            _angle(lambda n, m: 2 * (n - m)),
        ),
        Mutant(
            "key-turned-too",
            "the query is turned by the distance and the key by its position as well: the "
            "distance alone says it all",
            _angle(lambda n, m: n - 2 * m),
        ),
        Mutant(
            "no-future",
            "a key that comes later is taken to be 0 away: the distance may be negative",
            _angle(lambda n, m: max(0, n - m)),
        ),
        Mutant(
            "absolute",
            "the distance has lost its sign: a key that comes later lies on the other side",
            _angle(lambda n, m: abs(n - m)),
        ),
        Mutant(
            "in-place",
            "the turned vector is written over the one that was given: the caller still needs it",
            answers(score=_in_place),
        ),
        Mutant(
            "scaled",
            "the score is divided by sqrt(d): here the plain dot product is asked for",
            answers(score=lambda q, k, n, m: score(q, k, n, m) / len(q) ** 0.5),
        ),
    ),
)
