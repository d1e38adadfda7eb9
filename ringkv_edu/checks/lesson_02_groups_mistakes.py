"""Lesson 02: attention for groups of heads that real people write, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .lesson_02_attention import Array
from .model import answers

KEEPDIMS = (
    "maximum and sum lose their last axis, so they no longer line up with the scores: give them "
    "keepdims=True"
)
Home = Callable[[Array, int, int], Array]


def attend_groups(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    """Let query head h attend to key/value head h // group, where ``mask`` is True."""
    return groups(q, keys, values, mask)


def groups(
    q: Array,
    keys: Array,
    values: Array,
    mask: Array,
    home: Home = lambda h, heads, kv_heads: h // (heads // kv_heads),
    scale: float | None = None,
    top: Callable[[Array], Any] = lambda scores: scores.max(axis=1, keepdims=True),
    total: Callable[[Array], Any] = lambda weights: weights.sum(axis=1, keepdims=True),
    hidden: float = -np.inf,
) -> Array:
    """Attend with the steps that mutants change left open; ``hidden`` is a masked score."""
    heads, head_dim = q.shape
    homes = home(np.arange(heads), heads, len(keys))
    with np.errstate(all="ignore"):
        scores = np.einsum("hd,hsd->hs", q, keys[homes]) * (scale or head_dim**-0.5)
        scores = np.where(mask, scores, hidden)
        weights = np.exp(scores - top(scores))
        out: Array = np.einsum("hs,hsd->hd", weights / total(weights), values[homes])
    return out


def with_steps(**steps: Any) -> dict[str, Any]:
    return answers(attend_groups=lambda q, k, v, mask: groups(q, k, v, mask, **steps))


def folded(q: Array, keys: Array) -> tuple[int, int, int]:
    return len(keys), len(q) // len(keys), q.shape[1]


def heads_shuffled(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    out = attend_groups(q, keys, values, mask).reshape(folded(q, keys))
    return out.swapaxes(0, 1).reshape(q.shape)


def not_flat(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return attend_groups(q, keys, values, mask).reshape(folded(q, keys))


def folded_the_other_way(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    folded = q.reshape(len(q) // len(keys), len(keys), q.shape[1])
    with np.errstate(all="ignore"):
        scores = folded @ keys.swapaxes(1, 2) / np.sqrt(q.shape[1])
        scores = np.where(mask, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
    out: Array = (weights @ values).reshape(q.shape)
    return out


def no_keepdims(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    with np.errstate(all="ignore"):
        scores = q.reshape(folded(q, keys)) @ keys.swapaxes(1, 2) / np.sqrt(q.shape[1])
        scores = np.where(mask, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1))
        weights /= weights.sum(axis=-1)
    out: Array = (weights @ values).reshape(q.shape)
    return out


def unfolded(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    scores = q @ keys.swapaxes(1, 2) / np.sqrt(q.shape[1])
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out: Array = (weights / weights.sum(axis=-1, keepdims=True)) @ values
    return out


def averaged(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return attend_groups(q.reshape(folded(q, keys)).mean(axis=1), keys, values, mask)


def averaged_for_all(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return np.repeat(averaged(q, keys, values, mask), len(q) // len(keys), axis=0)


def mask_after(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return groups(q, keys, values * mask[:, None], np.full(len(mask), True))


def hidden_counted(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    def total(weights: Array) -> Any:
        return weights[:, mask].sum(axis=1, keepdims=True)

    return groups(q, keys, values * mask[:, None], mask | True, total=total)


def hidden_zeroed(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return groups(q, keys * mask[:, None], values * mask[:, None], mask | True)


def zeroed_in_place(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    keys[:, ~mask], values[:, ~mask] = 0.0, 0.0
    return groups(q, keys, values, mask | True)
