"""Lesson 04: turning one vector to its position."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import numbers
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["TURN"]

Array = npt.NDArray[Any]
Formula = Callable[[Array, Array, Array, Array], Array]
Frequency = Callable[[Array, int, float], Array]


def rotate(x: Array, position: float, base: float = 10000.0) -> Array:
    """Turn pair i, x[i] and x[i + d/2], by position * base ** (-2 i / d)."""
    return _halves(x, position * _frequency(np.arange(len(x) // 2), len(x), base))


def _frequency(pair: Array, d: int, base: float) -> Array:
    slower: Array = base ** (-2 * pair / d)
    return slower


def _first(a: Array, b: Array, cos: Array, sin: Array) -> Array:
    turned: Array = a * cos - b * sin
    return turned


def _second(a: Array, b: Array, cos: Array, sin: Array) -> Array:
    turned: Array = b * cos + a * sin
    return turned


def _halves(x: Array, angle: Array, first: Formula = _first, second: Formula = _second) -> Array:
    half = len(x) // 2
    a, b, cos, sin = x[:half], x[half:], np.cos(angle), np.sin(angle)
    return np.concatenate([first(a, b, cos, sin), second(a, b, cos, sin)])


def _angles(frequency: Frequency, unit: float = 1.0, further: int = 0) -> dict[str, Any]:
    """Make a mutant of ``rotate`` that has other angles."""

    def mutant(x: Array, position: float, base: float = 10000.0) -> Array:
        turns = frequency(np.arange(len(x) // 2), len(x), base)
        return _halves(x, unit * (position + further) * turns)

    return answers(rotate=mutant)


def _formulas(first: Formula = _first, second: Formula = _second) -> dict[str, Any]:
    """Make a mutant of ``rotate`` that has other formulas for the two numbers of a pair."""

    def mutant(x: Array, position: float, base: float = 10000.0) -> Array:
        angle = position * _frequency(np.arange(len(x) // 2), len(x), base)
        return _halves(x, angle, first, second)

    return answers(rotate=mutant)


def _paired(read: bool, written: bool) -> dict[str, Any]:
    """Make a mutant of ``rotate`` that takes neighbours for pairs on the way in or out."""

    def mutant(x: Array, position: float, base: float = 10000.0) -> Array:
        out = rotate(np.concatenate([x[0::2], x[1::2]]) if read else x, position, base)
        half = len(x) // 2
        return np.stack([out[:half], out[half:]], axis=-1).ravel() if written else out

    return answers(rotate=mutant)


def _overwritten(x: Array, position: float, base: float = 10000.0) -> Array:
    out, half = x.copy(), len(x) // 2
    angle = position * _frequency(np.arange(half), len(x), base)
    out[:half] = out[:half] * np.cos(angle) - out[half:] * np.sin(angle)
    out[half:] = out[half:] * np.cos(angle) + out[:half] * np.sin(angle)
    return out


def _angles_for_neighbours(x: Array, position: float, base: float = 10000.0) -> Array:
    half = len(x) // 2
    angle = np.repeat(position * _frequency(np.arange(half), len(x), base), 2)
    crossed = np.concatenate([-x[half:], x[:half]])
    return np.asarray(x * np.cos(angle) + crossed * np.sin(angle))


def _two_halves(x: Array, position: float, base: float = 10000.0) -> Array:
    return rotate(x, position, base).reshape(2, -1)


def _into_x(x: Array, position: float, base: float = 10000.0) -> Array:
    x[:] = rotate(x, position, base)
    return x


def _turn_cases(rng: Random) -> list[Case]:
    asked = [
        (np.array([1.0, 0.0]), 1, 10000.0),
        (np.array([3.0, -2.0]), 0, 10000.0),
        (numbers(rng, 2), rng.randrange(2, 30), 10000.0),
        (np.array([1.0, 2.0, 3.0, 4.0]), 2, 100.0),
        (numbers(rng, 4), rng.randrange(2, 100), 10000.0),
        (numbers(rng, 6), rng.randrange(2, 100), 500.0),
        (numbers(rng, 8), rng.randrange(1000, 5000), 10000.0),
    ]
    return [_turn_case(*one) for one in asked]


def _turn_case(x: Array, position: int, base: float) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        if base == 10000.0:
            return {"result": call(answer.rotate, x.copy(), position)}
        return {"result": call(answer.rotate, x.copy(), position, base)}

    more = "" if base == 10000.0 else f", {base}"
    return Case(f"rotate(np.array({x.tolist()}), {position}{more})", run)


TURN = Exercise(
    id="rope1-turn",
    names=("rotate",),
    cases=_turn_cases,
    reference=answers(rotate),
    mutants=(
        Mutant(
            "interleaved",
            "neighbours are paired, x[2i] with x[2i + 1]. That is RoPE, too, and right for a model "
            "trained so, but not for this one: its pairs are x[i] and x[i + d/2]",
            _paired(read=True, written=True),
        ),
        Mutant(
            "read-as-neighbours",
            "neighbours are read as pairs, and written back as halves: "
            "pair i is x[i] and x[i + d/2] on both ways",
            _paired(read=True, written=False),
        ),
        Mutant(
            "written-as-neighbours",
            "the pairs are right, but their turned numbers are written side by "
            "side: they go back to places i and i + d/2",
            _paired(read=False, written=True),
        ),
        Mutant(
            "angles-for-neighbours",
            "the angles are repeated as for neighbours, 0 0 1 1: places i and i + d/2 share "
            "angle i, so they run 0 1 0 1 (np.tile, not np.repeat)",
            answers(rotate=_angles_for_neighbours),
        ),
        Mutant(
            "two-halves",
            "the two halves are given one beside the other: put them together into one vector",
            answers(rotate=_two_halves),
        ),
        Mutant(
            "backwards",
            "the sine has the wrong sign: the pair turns backwards",
            _angles(_frequency, unit=-1.0),
        ),
        Mutant(
            "both-minus",
            "the sine is subtracted in both formulas: the second one adds it",
            _formulas(second=lambda a, b, cos, sin: b * cos - a * sin),
        ),
        Mutant(
            "both-plus",
            "the sine is added in both formulas: the first one subtracts it",
            _formulas(first=lambda a, b, cos, sin: a * cos + b * sin),
        ),
        Mutant(
            "sine-for-cosine",
            "sine and cosine have changed places: an angle of 0 must leave x as it is",
            _formulas(
                lambda a, b, cos, sin: a * sin - b * cos, lambda a, b, cos, sin: b * sin + a * cos
            ),
        ),
        Mutant(
            "overwritten",
            "the second half is computed from the first half after that was overwritten: keep "
            "the old numbers until both halves are done",
            answers(rotate=_overwritten),
        ),
        Mutant(
            "in-place",
            "the result is written into x: the caller still needs its vector, so give a new one",
            answers(rotate=_into_x),
        ),
        Mutant(
            "one-speed",
            "every pair turns by the same angle, the position: each has a frequency of its own",
            _angles(lambda pair, d, base: np.ones(len(pair))),
        ),
        Mutant(
            "half-exponent",
            "the exponent is -i / d, half of what it should be: it is -2i / d",
            _angles(lambda pair, d, base: base ** (-pair / d)),
        ),
        Mutant(
            "double-exponent",
            "the exponent is -4i / d, twice what it should be: i counts the pairs, from 0 to "
            "d/2 - 1, and d is the whole length",
            _angles(lambda pair, d, base: base ** (-4 * pair / d)),
        ),
        Mutant(
            "faster",
            "the exponent is positive: the later pairs turn slower, not faster",
            _angles(lambda pair, d, base: base ** (2 * pair / d)),
        ),
        Mutant(
            "parentheses",
            "the exponent lacks its parentheses: base ** -2 * i / d is (base ** -2) * i / d",
            _angles(lambda pair, d, base: base**-2 * pair / d),
        ),
        Mutant(
            "from-one",
            "the pairs are counted from 1: the first pair has i = 0 and turns fastest",
            _angles(lambda pair, d, base: base ** (-2 * (pair + 1) / d)),
        ),
        Mutant(
            "turned-round",
            "the frequencies stand in the wrong order: the first pair turns fastest",
            _angles(lambda pair, d, base: base ** (-2 * pair[::-1] / d)),
        ),
        Mutant(
            "base-fixed",
            "the base is 10000 whatever is given: use the argument",
            _angles(lambda pair, d, base: 10000.0 ** (-2 * pair / d)),
        ),
        Mutant(
            "degrees",
            "the angle is taken as degrees: it is in radians, as np.cos and np.sin want it",
            _angles(_frequency, unit=np.pi / 180),
        ),
        Mutant(
            "one-too-far",
            "the position is one too far: the first token stands at position 0 and is not turned",
            _angles(_frequency, further=1),
        ),
        Mutant(
            "not-turned",
            "x is given back as it is",
            answers(rotate=lambda x, position, base=10000.0: x.copy()),
        ),
    ),
)
