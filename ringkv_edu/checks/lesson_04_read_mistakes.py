"""Lesson 04: right and wrong ways to score a ring of unrotated keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_rope import turned
from .model import answers

Array = npt.NDArray[Any]
Angle = Callable[[int, int, list[int]], float]  # of a slot, its position, all positions


def scores(q: Array, keys: Array, positions: Array) -> Array:
    """Give the scaled score of the newest token's query in each slot; -inf where it is empty."""
    return scored(q, keys, positions, lambda slot, held, p: max(p) - held)


def scored(
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


def with_angle(angle: Angle) -> dict[str, Any]:
    return answers(scores=lambda q, keys, positions: scored(q, keys, positions, angle))


def right(slot: int, held: int, p: list[int]) -> float:
    return max(p) - held


def with_scale(scale: Callable[[Array], float]) -> dict[str, Any]:
    return answers(scores=lambda q, keys, p: scored(q, keys, p, right, scale))


def count(p: list[int]) -> int:
    return sum(held >= 0 for held in p)


def rank(held: int, p: list[int]) -> int:
    return sum(0 <= other < held for other in p)


def in_order_of_time(q: Array, keys: Array, positions: Array) -> Array:
    order = np.argsort(positions)
    return scores(q, keys, positions)[order]


def empties_dropped(q: Array, keys: Array, positions: Array) -> Array:
    return scores(q, keys, positions)[np.asarray(positions) >= 0]


def zero_dropped(q: Array, keys: Array, positions: Array) -> Array:
    return np.where(np.asarray(positions) > 0, scores(q, keys, positions), -np.inf)


def none_for_empty(q: Array, keys: Array, positions: Array) -> list[float | None]:
    return [x if np.isfinite(x) else None for x in scores(q, keys, positions).tolist()]


def softmax(q: Array, keys: Array, positions: Array) -> Array:
    found = scores(q, keys, positions)
    weights = np.exp(found - found.max())
    return np.asarray(weights / weights.sum())


def with_empty(empty: float) -> dict[str, Any]:
    return answers(scores=lambda q, keys, p: scored(q, keys, p, right, empty=empty))


def empties_scored(q: Array, keys: Array, positions: Array) -> Array:
    newest = positions.max()
    turns = [turned(q, newest - p) @ key for key, p in zip(keys, positions, strict=True)]
    return np.asarray(np.array(turns) * len(q) ** -0.5)


def empty_by_key(q: Array, keys: Array, positions: Array) -> Array:
    return np.where(keys.any(axis=1), empties_scored(q, keys, positions), -np.inf)


def whole_numbers(q: Array, keys: Array, positions: Array) -> Array:
    out = np.zeros_like(positions)
    for slot, found in enumerate(scores(q, keys, positions)):
        out[slot] = found
    return out


def in_place(q: Array, keys: Array, positions: Array) -> Array:
    found = scores(q, keys, positions)
    q[:] = turned(q, positions.max() + 1)
    return found
