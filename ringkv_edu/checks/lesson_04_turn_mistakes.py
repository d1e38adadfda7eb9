"""Lesson 04: right and wrong ways to turn one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import answers

Array = npt.NDArray[Any]
Formula = Callable[[Array, Array, Array, Array], Array]
Frequency = Callable[[Array, int, float], Array]


def rotate(x: Array, position: float, base: float = 10000.0) -> Array:
    """Turn pair i, x[i] and x[i + d/2], by position * base ** (-2 i / d)."""
    return halves(x, position * frequency(np.arange(len(x) // 2), len(x), base))


def frequency(pair: Array, d: int, base: float) -> Array:
    slower: Array = base ** (-2 * pair / d)
    return slower


def first(a: Array, b: Array, cos: Array, sin: Array) -> Array:
    turned: Array = a * cos - b * sin
    return turned


def second(a: Array, b: Array, cos: Array, sin: Array) -> Array:
    turned: Array = b * cos + a * sin
    return turned


def halves(x: Array, angle: Array, one: Formula = first, other: Formula = second) -> Array:
    half = len(x) // 2
    a, b, cos, sin = x[:half], x[half:], np.cos(angle), np.sin(angle)
    return np.concatenate([one(a, b, cos, sin), other(a, b, cos, sin)])


def angles(speed: Frequency, unit: float = 1.0, further: int = 0) -> dict[str, Any]:
    """Make a mutant of ``rotate`` that has other angles."""

    def mutant(x: Array, position: float, base: float = 10000.0) -> Array:
        turns = speed(np.arange(len(x) // 2), len(x), base)
        return halves(x, unit * (position + further) * turns)

    return answers(rotate=mutant)


def formulas(one: Formula = first, other: Formula = second) -> dict[str, Any]:
    """Make a mutant of ``rotate`` that has other formulas for the two numbers of a pair."""

    def mutant(x: Array, position: float, base: float = 10000.0) -> Array:
        angle = position * frequency(np.arange(len(x) // 2), len(x), base)
        return halves(x, angle, one, other)

    return answers(rotate=mutant)


def paired(read: bool, written: bool) -> dict[str, Any]:
    """Make a mutant of ``rotate`` that takes neighbours for pairs on the way in or out."""

    def mutant(x: Array, position: float, base: float = 10000.0) -> Array:
        out = rotate(np.concatenate([x[0::2], x[1::2]]) if read else x, position, base)
        half = len(x) // 2
        return np.stack([out[:half], out[half:]], axis=-1).ravel() if written else out

    return answers(rotate=mutant)


def overwritten(x: Array, position: float, base: float = 10000.0) -> Array:
    out, half = x.astype(np.float64), len(x) // 2
    angle = position * frequency(np.arange(half), len(x), base)
    out[:half] = out[:half] * np.cos(angle) - out[half:] * np.sin(angle)
    out[half:] = out[half:] * np.cos(angle) + out[:half] * np.sin(angle)
    return out


def angles_for_neighbours(x: Array, position: float, base: float = 10000.0) -> Array:
    half = len(x) // 2
    angle = np.repeat(position * frequency(np.arange(half), len(x), base), 2)
    crossed = np.concatenate([-x[half:], x[:half]])
    return np.asarray(x * np.cos(angle) + crossed * np.sin(angle))


def two_halves(x: Array, position: float, base: float = 10000.0) -> Array:
    return rotate(x, position, base).reshape(2, -1)


def into_x(x: Array, position: float, base: float = 10000.0) -> Array:
    x[:] = rotate(x, position, base)
    return x


def of_kind_of_x(x: Array, position: float, base: float = 10000.0) -> Array:
    return rotate(x, position, base).astype(x.dtype)
