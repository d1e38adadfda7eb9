"""Lesson 09: right and wrong ways to take a tile into a running softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import answers

Array = npt.NDArray[Any]
State = tuple[Array, Array, Array]
Kept = Callable[[Array, Array], Array]  # old and new maximum -> factor of each row


def fold_tile(state: State, scores: Array, values: Array) -> State:
    """Take a tile in: the maximum may rise, and what there is is rescaled to it."""
    return _fold(state, scores, values)


def right_kept(old: Array, base: Array) -> Array:
    return np.asarray(np.exp(old - base))


def ones(old: Array, base: Array) -> Array:
    return np.ones(len(old))


def zeros(old: Array, base: Array) -> Array:
    return np.zeros(len(old))


def wrong_way(old: Array, base: Array) -> Array:
    return np.where(np.isneginf(old), 0, np.exp(base - np.where(np.isneginf(old), base, old)))


def right_top(old: Array, scores: Array) -> Array:
    return np.asarray(np.maximum(old, scores.max(axis=1)))


def first_top(old: Array, scores: Array) -> Array:
    return np.where(np.isneginf(old), scores.max(axis=1), old)


def shared_top(old: Array, scores: Array) -> Array:
    return np.full(len(old), max(old.max(), scores.max()))


def or_zero(top: Array) -> Array:
    return np.where(np.isneginf(top), 0, top)


def _fold(
    state: State, scores: Array, values: Array,
    top: Callable[[Array, Array], Array] = right_top, base: Callable[[Array], Array] = or_zero,
    kept: Kept = right_kept, sum_kept: Kept | None = None, out_kept: Kept | None = None,
    seen: Callable[[Array], Array] = lambda scores: scores,
    weigh: Callable[[Array], Array] = lambda weights: weights.sum(axis=1),
    end: Callable[[Array, Array], Array] = lambda total, out: out,
) -> State:  # fmt: skip
    old, total, out = state
    with np.errstate(all="ignore"):  # what a mistake makes of infinity is its own affair
        scores = seen(scores)
        new = top(old, scores)
        shift = base(new)
        weights = np.exp(scores - shift[:, None])
        total = total * (sum_kept or kept)(old, shift) + weigh(weights)
        out = out * (out_kept or kept)(old, shift)[:, None] + weights @ values
        return new, total, end(total, out)


def changed(**parts: Any) -> dict[str, Any]:
    return answers(fold_tile=lambda state, scores, values: _fold(state, scores, values, **parts))


def softmax_of_each(state: State, scores: Array, values: Array) -> State:
    top, total, _ = _fold((np.full(len(scores), -np.inf), *state[1:]), scores, values)
    weights = np.exp(scores - or_zero(top)[:, None])
    parts = weights.sum(axis=1)
    share = weights / np.where(parts > 0, parts, 1)[:, None]
    return right_top(state[0], scores), total, state[2] + share @ values
