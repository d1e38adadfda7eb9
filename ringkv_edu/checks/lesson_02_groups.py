"""Lesson 02: several query heads share one key/value head."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from .lesson_02_common import Array, code_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["GROUPS"]

KEEPDIMS = (
    "maximum and sum lose their last axis, so they no longer line up with the scores: give them "
    "keepdims=True"
)
Home = Callable[[Array, int, int], Array]


def attend_groups(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    """Let query head h attend to key/value head h // group, where ``mask`` is True."""
    return _groups(q, keys, values, mask)


def _groups(
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


def _with(**steps: Any) -> dict[str, Any]:
    return answers(attend_groups=lambda q, k, v, mask: _groups(q, k, v, mask, **steps))


def _folded(q: Array, keys: Array) -> tuple[int, int, int]:
    return len(keys), len(q) // len(keys), q.shape[1]


def _heads_shuffled(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    out = attend_groups(q, keys, values, mask).reshape(_folded(q, keys))
    return out.swapaxes(0, 1).reshape(q.shape)


def _not_flat(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return attend_groups(q, keys, values, mask).reshape(_folded(q, keys))


def _folded_the_other_way(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    folded = q.reshape(len(q) // len(keys), len(keys), q.shape[1])
    with np.errstate(all="ignore"):
        scores = folded @ keys.swapaxes(1, 2) / np.sqrt(q.shape[1])
        scores = np.where(mask, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
    out: Array = (weights @ values).reshape(q.shape)
    return out


def _no_keepdims(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    with np.errstate(all="ignore"):
        scores = q.reshape(_folded(q, keys)) @ keys.swapaxes(1, 2) / np.sqrt(q.shape[1])
        scores = np.where(mask, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1))
        weights /= weights.sum(axis=-1)
    out: Array = (weights @ values).reshape(q.shape)
    return out


def _unfolded(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    scores = q @ keys.swapaxes(1, 2) / np.sqrt(q.shape[1])
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out: Array = (weights / weights.sum(axis=-1, keepdims=True)) @ values
    return out


def _averaged(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return attend_groups(q.reshape(_folded(q, keys)).mean(axis=1), keys, values, mask)


def _averaged_for_all(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return np.repeat(_averaged(q, keys, values, mask), len(q) // len(keys), axis=0)


def _mask_after(q: Array, keys: Array, values: Array, mask: Array) -> Array:
    return _groups(q, keys, values * mask[:, None], np.full(len(mask), True))


def _groups_cases(rng: Random) -> list[Case]:
    sizes = [(4, 2, 3, 2), (6, 2, 4, 3), (6, 3, 4, 2), (2, 2, 4, 2), (4, 1, 5, 2), (1, 1, 1, 2)]
    kv_heads, group = rng.randrange(2, 5), rng.randrange(2, 4)
    sizes.append((kv_heads * group, kv_heads, rng.randrange(5, 8), rng.randrange(2, 5)))
    drawn = [_drawn(rng, *size) for size in sizes]
    far_apart = (
        "q = np.array([[3000.0], [1.0]]); keys = values = np.array([[[1.0], [0.5], [-0.5]]]); "
        "out = attend_groups(q, keys, values, np.array([True, True, False]))"
    )
    return [
        code_case(line, "attend_groups", lambda space: {"result": space["out"]})
        for line in (*drawn, far_apart)
    ]


def _drawn(rng: Random, heads: int, kv_heads: int, slots: int, head_dim: int) -> str:
    hidden = rng.randrange(1, slots) if slots > 1 else 0
    mask = [True] * (slots - hidden) + [False] * hidden
    rng.shuffle(mask)
    return (
        f'rng = draw({rng.randrange(1000)}, "np6"); q = numbers(rng, {heads}, {head_dim}); '
        f"keys, values = numbers(rng, 2, {kv_heads}, {slots}, {head_dim}); "
        f"out = attend_groups(q, keys, values, np.array({mask}))"
    )


GROUPS = Exercise(
    id="np6-groups",
    names=("attend_groups",),
    cases=_groups_cases,
    reference=answers(attend_groups),
    mutants=(
        Mutant(
            "modulo",
            "query head h reads key/value head h % kv_heads: neighbours share one, so it is "
            "h // group",
            _with(home=lambda h, heads, kv_heads: h % kv_heads),
        ),
        Mutant(
            "divided-by-kv-heads",
            "query head h reads key/value head h // kv_heads: divide by the size of a group",
            _with(home=lambda h, heads, kv_heads: h // kv_heads),
        ),
        Mutant(
            "every-head-on-every",
            "every query head is compared with every key/value head: fold q first, so that each "
            "meets its own",
            answers(attend_groups=_unfolded),
        ),
        Mutant(
            "first-head",
            "all query heads read key/value head 0",
            _with(home=lambda h, heads, kv_heads: 0 * h),
        ),
        Mutant(
            "heads-shuffled",
            "the outputs are right, and come back in another order of heads: the first axis of "
            "the result has q's order",
            answers(attend_groups=_heads_shuffled),
        ),
        Mutant(
            "not-flat",
            "the result is still folded, (kv_heads, group, head_dim): bring it back to q's shape",
            answers(attend_groups=_not_flat),
        ),
        Mutant(
            "folded-the-other-way",
            "q is folded as (group, kv_heads, head_dim): the heads of a group are neighbours, so "
            "it is (kv_heads, group, head_dim)",
            answers(attend_groups=_folded_the_other_way),
        ),
        Mutant("no-keepdims", KEEPDIMS, answers(attend_groups=_no_keepdims)),
        Mutant(
            "no-keepdims-flat",
            KEEPDIMS,
            _with(top=lambda scores: scores.max(axis=1), total=lambda weights: weights.sum(axis=1)),
        ),
        Mutant(
            "no-mask",
            "the mask is not used",
            answers(attend_groups=lambda q, k, v, mask: _groups(q, k, v, mask | True)),
        ),
        Mutant(
            "inverted",
            "the mask is the wrong way round: True means seen",
            answers(attend_groups=lambda q, k, v, mask: _groups(q, k, v, ~mask)),
        ),
        Mutant(
            "mask-after",
            "the mask comes after the softmax: the weights that are left no longer add up to 1",
            answers(attend_groups=_mask_after),
        ),
        Mutant(
            "scores-zero",
            "the scores of what is not seen become 0, and exp(0) is 1",
            _with(hidden=0.0),
        ),
        Mutant(
            "averaged",
            "the queries of a group are averaged: each head has a query and an output of its own",
            answers(attend_groups=_averaged),
        ),
        Mutant(
            "averaged-for-all",
            "the queries of a group are averaged: each head has a query and an output of its own",
            answers(attend_groups=_averaged_for_all),
        ),
        Mutant(
            "softmax-over-heads",
            "the softmax runs over the heads: it runs over the slots, the last axis",
            _with(
                top=lambda scores: scores.max(axis=0),
                total=lambda weights: weights.sum(axis=0),
            ),
        ),
        Mutant(
            "one-sum",
            "the weights of all heads share one sum: each head's own weights add up to 1 "
            "(axis=-1, keepdims=True)",
            _with(total=np.sum),
        ),
        Mutant(
            "one-maximum",
            "one maximum is subtracted for all heads: the weights of a head whose scores lie far "
            "below it all become 0, and 0 / 0 is NaN",
            _with(top=np.max),
        ),
        Mutant(
            "overflow",
            "the largest score is not subtracted before exp, and infinity over infinity is NaN",
            _with(top=lambda scores: 0.0),
        ),
        Mutant(
            "scale-of-heads",
            "the scale uses the number of heads, not head_dim: that is the last axis",
            answers(attend_groups=lambda q, k, v, m: _groups(q, k, v, m, scale=len(k) ** -0.5)),
        ),
        Mutant("no-scale", "the scores are not divided by sqrt(head_dim)", _with(scale=1.0)),
    ),
)
