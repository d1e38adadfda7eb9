"""Lesson 06: the mean of a block's keys, turned to the block's centre."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_rope import turned
from .lesson_06_common import line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["CENTRE"]

Array = npt.NDArray[Any]
Place = Callable[[Array], float]


def block_key(keys: Array, positions: Array) -> Array:
    """Turn keys back from their positions, take the mean, and turn that to the centre."""
    return pooled(keys, positions)


def pooled(
    keys: Array,
    positions: Array,
    place: Place = lambda positions: float(positions.mean()),
    back: Callable[[Array], Array] = lambda positions: -positions,
    mean: Callable[[Array], Array] = lambda keys: keys.mean(axis=0),
) -> Array:
    flat = turned(keys, back(np.asarray(positions)))
    return turned(mean(flat), place(np.asarray(positions)))


def _changed(**parts: Any) -> dict[str, Any]:
    return answers(block_key=lambda keys, positions: pooled(keys, positions, **parts))


def _in_place(keys: Array, positions: Array) -> Array:
    keys[:] = turned(keys, -positions)
    return turned(keys.mean(axis=0), positions.mean())


def _all_turned(keys: Array, positions: Array) -> Array:
    return turned(turned(keys, -positions), positions.mean())


def _each_half(keys: Array, positions: Array) -> Array:
    """Take the mean of the ends alone."""
    ends = [0, -1]
    return pooled(keys[ends], positions[ends])


def _none(positions: Array) -> Array:
    return positions * 0


def _centre_cases(rng: Random) -> list[Case]:
    start, far = rng.randrange(3, 30), rng.randrange(200, 2000)
    runs = [(0, 2, 2), (4, 3, 2), (5, 1, 4), (7, 4, 4), (start, 4, 2), (start + 5, 5, 4)]
    runs += [(far, 2, 4), (far, 9, 6)]
    return [_case(rng.randrange(1000), *run) for run in runs]


def _case(seed: int, first: int, n: int, d: int) -> Case:
    before = f'rng = draw({seed}, "ps6"); held = np.arange({first}, {first + n}); '
    line = f"block_key(turned(numbers(rng, {n}, {d}), held), held)"
    return line_case(line, "block_key", before)


CENTRE = Exercise(
    id="ps6-centre",
    names=("block_key",),
    cases=_centre_cases,
    reference=answers(block_key),
    mutants=(
        Mutant(
            "newest",
            "the mean is turned to the newest position of the block: its tokens then seem to lie "
            "nearer than they do",
            _changed(place=lambda p: p[-1]),
        ),
        Mutant(
            "oldest",
            "the mean is turned to the oldest position of the block: its tokens then seem to lie "
            "further back than they do",
            _changed(place=lambda p: p[0]),
        ),
        Mutant(
            "rounded-down",
            "the centre is rounded down: with an even number of tokens it lies between two "
            "positions, at x.5, and turning works there, too",
            _changed(place=lambda p: (p[0] + p[-1]) // 2),
        ),
        Mutant(
            "rounded-up",
            "the centre is rounded up: with an even number of tokens it lies between two "
            "positions, at x.5, and turning works there, too",
            _changed(place=lambda p: p[len(p) // 2]),
        ),
        Mutant(
            "half-too-far",
            "half the number of tokens is added to the first position: from 4 to 7 the centre is "
            "5.5, not 6",
            _changed(place=lambda p: p[0] + len(p) / 2),
        ),
        Mutant(
            "not-turned",
            "the mean is left unturned, as if the block stood at position 0",
            _changed(place=lambda p: 0),
        ),
        Mutant(
            "turned-by-place",
            "the mean is turned to half the length of the block: the centre is a position in the "
            "text",
            _changed(place=lambda p: (len(p) - 1) / 2),
        ),
        Mutant(
            "mean-as-stored",
            "the keys are averaged as they are stored, or all turned back by the same angle. That "
            "is a way to do it; here each is to be turned back by its own position first",
            _changed(back=_none, place=lambda p: 0),
        ),
        Mutant(
            "turned-twice",
            "the keys are not turned back: the mean is then turned by the centre once more",
            _changed(back=_none),
        ),
        Mutant(
            "wrong-way",
            "the keys are turned further by their positions, not back: turning back needs the "
            "negative position",
            _changed(back=lambda p: p),
        ),
        Mutant(
            "mean-wrong-way",
            "the mean is turned by the negative centre: away from where its block stands",
            _changed(place=lambda p: -p.mean()),
        ),
        Mutant(
            "back-by-place",
            "the keys are turned back by their places in the block, 0, 1, 2, ..., not by their "
            "positions",
            _changed(back=lambda p: -np.arange(len(p))),
        ),
        Mutant(
            "sum",
            "the keys are added up: divide by how many they are",
            _changed(mean=lambda keys: keys.sum(axis=0)),
        ),
        Mutant(
            "ends-alone",
            "only the first and the last key are averaged",
            answers(block_key=_each_half),
        ),
        Mutant(
            "all-keys",
            "all keys are given: a summary has one, their mean",
            answers(block_key=_all_turned),
        ),
        Mutant(
            "in-place",
            "the keys are written over: they are still in use",
            answers(block_key=_in_place),
        ),
    ),
)
