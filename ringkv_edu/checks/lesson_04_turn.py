"""Lesson 04: turning one vector to its position."""

from __future__ import annotations

from random import Random

import numpy as np

from ..given_numpy import numbers
from . import lesson_04_turn_mistakes as wrong
from .lesson_04_common import array, line_case
from .lesson_04_turn_mistakes import angles, formulas, frequency, paired, rotate
from .model import Case, Exercise, Mutant, answers

__all__ = ["TURN"]

WHOLE, SAME = "np.array([1, 2, 3, 4])", "np.array([1.0, 2.0, 3.0, 4.0])"


def _turn_cases(rng: Random) -> list[Case]:
    asked = [
        ([1.0, 0.0], 1, 10000.0),
        ([3.0, -2.0], 0, 10000.0),
        (numbers(rng, 2).tolist(), rng.randrange(2, 30), 10000.0),
        ([1.0, 2.0, 3.0, 4.0], 2, 100.0),
        (numbers(rng, 4).tolist(), 2, 10000.0),  # the position of before, another base
        (numbers(rng, 6).tolist(), rng.randrange(2, 100), 500.0),
        (numbers(rng, 8).tolist(), rng.randrange(1000, 5000), 10000.0),
    ]
    # The difference of the two: only what happens to whole numbers counts here, so that any other
    # mistake is still named.
    whole = f"np.subtract(rotate({WHOLE}, 2, 100.0), rotate({SAME}, 2, 100.0))"
    return [_turn_case(*one) for one in asked] + [line_case(whole, "rotate")]


def _turn_case(x: list[float], position: int, base: float) -> Case:
    more = "" if base == 10000.0 else f", {base}"
    return line_case(f"rotate({array(x)}, {position}{more})", "rotate")


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
            paired(read=True, written=True),
        ),
        Mutant(
            "read-as-neighbours",
            "neighbours are read as pairs, and written back as halves: "
            "pair i is x[i] and x[i + d/2] on both ways",
            paired(read=True, written=False),
        ),
        Mutant(
            "written-as-neighbours",
            "the pairs are right, but their turned numbers are written side by "
            "side: they go back to places i and i + d/2",
            paired(read=False, written=True),
        ),
        Mutant(
            "angles-for-neighbours",
            "the angles are repeated as for neighbours, 0 0 1 1: places i and i + d/2 share "
            "angle i, so they run 0 1 0 1 (np.tile, not np.repeat)",
            answers(rotate=wrong.angles_for_neighbours),
        ),
        Mutant(
            "two-halves",
            "the two halves are given one beside the other: put them together into one vector",
            answers(rotate=wrong.two_halves),
        ),
        Mutant(
            "backwards",
            "the sine has the wrong sign: the pair turns backwards",
            angles(frequency, unit=-1.0),
        ),
        Mutant(
            "both-minus",
            "the sine is subtracted in both formulas: the second one adds it",
            formulas(other=lambda a, b, cos, sin: b * cos - a * sin),
        ),
        Mutant(
            "both-plus",
            "the sine is added in both formulas: the first one subtracts it",
            formulas(one=lambda a, b, cos, sin: a * cos + b * sin),
        ),
        Mutant(
            "sine-for-cosine",
            "sine and cosine have changed places: an angle of 0 must leave x as it is",
            formulas(
                lambda a, b, cos, sin: a * sin - b * cos, lambda a, b, cos, sin: b * sin + a * cos
            ),
        ),
        Mutant(
            "overwritten",
            "the second half is computed from the first half after that was overwritten: keep "
            "the old numbers until both halves are done",
            answers(rotate=wrong.overwritten),
        ),
        Mutant(
            "in-place",
            "the result is written into x: the caller still needs its vector, so give a new one",
            answers(rotate=wrong.into_x),
        ),
        Mutant(
            "whole-numbers",
            "the result has x's kind: where x holds whole numbers, the fractions are cut off "
            "(np.zeros_like(x) and x.copy() take over the kind; np.zeros(len(x)) holds floats)",
            answers(rotate=wrong.of_kind_of_x),
        ),
        Mutant(
            "one-speed",
            "every pair turns by the same angle, the position: each has a speed of its own "
            "(a // in the exponent may make it 0 for all)",
            angles(lambda pair, d, base: np.ones(len(pair))),
        ),
        Mutant(
            "half-exponent",
            "the exponent is -i / d, half of what it should be: it is -2i / d",
            angles(lambda pair, d, base: base ** (-pair / d)),
        ),
        Mutant(
            "double-exponent",
            "the exponent is -4i / d, twice what it should be: i counts the pairs, from 0 to "
            "d/2 - 1, and d is the whole length",
            angles(lambda pair, d, base: base ** (-4 * pair / d)),
        ),
        Mutant(
            "floor",
            "`//` cuts the exponent to a whole number: -2 * i // d is -1 for every pair but the "
            "first",
            angles(lambda pair, d, base: base ** (-2 * pair // d)),
        ),
        Mutant(
            "faster",
            "the exponent is positive: the later pairs turn slower, not faster",
            angles(lambda pair, d, base: base ** (2 * pair / d)),
        ),
        Mutant(
            "parentheses",
            "the exponent lacks its parentheses: base ** -2 * i / d is (base ** -2) * i / d",
            angles(lambda pair, d, base: base**-2 * pair / d),
        ),
        Mutant(
            "from-one",
            "the pairs are counted from 1: the first pair has i = 0 and turns fastest",
            angles(lambda pair, d, base: base ** (-2 * (pair + 1) / d)),
        ),
        Mutant(
            "turned-round",
            "the frequencies stand in the wrong order: the first pair turns fastest",
            angles(lambda pair, d, base: base ** (-2 * pair[::-1] / d)),
        ),
        Mutant(
            "base-fixed",
            "the base is 10000 whatever is given: use the argument",
            angles(lambda pair, d, base: 10000.0 ** (-2 * pair / d)),
        ),
        Mutant(
            "degrees",
            "the angle is taken as degrees: it is in radians, as np.cos and np.sin want it",
            angles(frequency, unit=np.pi / 180),
        ),
        Mutant(
            "one-too-far",
            "the position is one too far: the first token stands at position 0 and is not turned",
            angles(frequency, further=1),
        ),
        Mutant(
            "not-turned",
            "x is given back as it is",
            answers(rotate=lambda x, position, base=10000.0: x.copy()),
        ),
    ),
)
