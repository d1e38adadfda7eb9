"""Lesson 02: several query heads share one key/value head."""

from __future__ import annotations

from random import Random

import numpy as np

from . import lesson_02_groups_mistakes as wrong
from .code_case import code_case
from .lesson_02_groups_mistakes import attend_groups
from .lesson_02_mask_mistakes import COUNTED, FINITE, ZEROED
from .model import Case, Exercise, Mutant, answers

__all__ = ["GROUPS"]

FAR_APART = (
    "q = np.array([[3000.0], [1.0]]); keys = values = np.array([[[1.0], [0.5], [-0.5]]]); "
    "out = attend_groups(q, keys, values, np.array([True, True, False]))"
)
HIDDEN_LARGEST = (  # and every score of head 0 is lower than most stand-ins for minus infinity
    "q, keys = np.array([[1e6], [1.0]]), np.array([[[-0.5], [-1.0], [0.5]]]); "
    "values = np.array([[[1.0], [2.0], [3.0]]]); "
    "out = attend_groups(q, keys, values, np.array([True, True, False]))"
)


def _groups_cases(rng: Random) -> list[Case]:
    sizes = [(4, 2, 3, 2), (6, 2, 4, 3), (6, 3, 4, 2), (2, 2, 4, 2), (4, 1, 5, 2), (1, 1, 1, 2)]
    kv_heads, group = rng.randrange(2, 5), rng.randrange(2, 4)
    sizes.append((kv_heads * group, kv_heads, rng.randrange(5, 8), rng.randrange(2, 5)))
    drawn = [_drawn(rng, *size) for size in sizes]
    return [
        code_case(line, "attend_groups", lambda space: {"result": space["out"]})
        for line in (*drawn, FAR_APART, HIDDEN_LARGEST)
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
            wrong.with_steps(home=lambda h, heads, kv_heads: h % kv_heads),
        ),
        Mutant(
            "modulo-group",
            "query head h reads key/value head h % group: neighbours share one, so it is "
            "h // group",
            wrong.with_steps(home=lambda h, heads, kv_heads: h % (heads // kv_heads)),
        ),
        Mutant(
            "divided-by-kv-heads",
            "query head h reads key/value head h // kv_heads: divide by the size of a group",
            wrong.with_steps(home=lambda h, heads, kv_heads: h // kv_heads),
        ),
        Mutant(
            "every-head-on-every",
            "every query head is compared with every key/value head: fold q first, so that each "
            "meets its own",
            answers(attend_groups=wrong.unfolded),
        ),
        Mutant(
            "first-head",
            "all query heads read key/value head 0",
            wrong.with_steps(home=lambda h, heads, kv_heads: 0 * h),
        ),
        Mutant(
            "heads-shuffled",
            "the outputs are right, and come back in another order of heads: the first axis of "
            "the result has q's order",
            answers(attend_groups=wrong.heads_shuffled),
        ),
        Mutant(
            "not-flat",
            "the result is still folded, (kv_heads, group, head_dim): bring it back to q's shape",
            answers(attend_groups=wrong.not_flat),
        ),
        Mutant(
            "folded-the-other-way",
            "q is folded as (group, kv_heads, head_dim): the heads of a group are neighbours, so "
            "it is (kv_heads, group, head_dim)",
            answers(attend_groups=wrong.folded_the_other_way),
        ),
        Mutant("no-keepdims", wrong.KEEPDIMS, answers(attend_groups=wrong.no_keepdims)),
        Mutant(
            "no-keepdims-flat",
            wrong.KEEPDIMS,
            wrong.with_steps(
                top=lambda scores: scores.max(axis=1), total=lambda weights: weights.sum(axis=1)
            ),
        ),
        Mutant(
            "no-mask",
            "the mask is not used",
            answers(attend_groups=lambda q, k, v, mask: wrong.groups(q, k, v, mask | True)),
        ),
        Mutant(
            "inverted",
            "the mask is the wrong way round: True means seen",
            answers(attend_groups=lambda q, k, v, mask: wrong.groups(q, k, v, ~mask)),
        ),
        Mutant(
            "mask-after",
            "the mask comes after the softmax: the weights that are left no longer add up to 1",
            answers(attend_groups=wrong.mask_after),
        ),
        Mutant(
            "scores-zero",
            "the scores of what is not seen become 0, and exp(0) is 1",
            wrong.with_steps(hidden=0.0),
        ),
        Mutant("finite", FINITE, wrong.with_steps(hidden=-100.0)),
        Mutant("hidden-counted", COUNTED, answers(attend_groups=wrong.hidden_counted)),
        Mutant("hidden-zeroed", ZEROED, answers(attend_groups=wrong.hidden_zeroed)),
        Mutant(
            "zeroed-in-place",
            "keys or values are changed themselves: they are the ring's own, and later queries "
            "need them. Mask the scores",
            answers(attend_groups=wrong.zeroed_in_place),
        ),
        Mutant(
            "averaged",
            "the queries of a group are averaged: each head has a query and an output of its own",
            answers(attend_groups=wrong.averaged),
        ),
        Mutant(
            "averaged-for-all",
            "the queries of a group are averaged: each head has a query and an output of its own",
            answers(attend_groups=wrong.averaged_for_all),
        ),
        Mutant(
            "softmax-over-heads",
            "the softmax runs over the heads: it runs over the slots, the last axis",
            wrong.with_steps(
                top=lambda scores: scores.max(axis=0),
                total=lambda weights: weights.sum(axis=0),
            ),
        ),
        Mutant(
            "one-sum",
            "the weights of all heads share one sum: each head's own weights add up to 1 "
            "(axis=-1, keepdims=True)",
            wrong.with_steps(total=np.sum),
        ),
        Mutant(
            "one-maximum",
            "one maximum is subtracted for all heads: the weights of a head whose scores lie far "
            "below it all become 0, and 0 / 0 is NaN",
            wrong.with_steps(top=np.max),
        ),
        Mutant(
            "overflow",
            "the largest score is not subtracted before exp, and infinity over infinity is NaN",
            wrong.with_steps(top=lambda scores: 0.0),
        ),
        Mutant(
            "scale-of-heads",
            "the scale uses the number of heads, not head_dim: that is the last axis",
            answers(
                attend_groups=lambda q, k, v, m: wrong.groups(q, k, v, m, scale=len(k) ** -0.5)
            ),
        ),
        Mutant(
            "no-scale", "the scores are not divided by sqrt(head_dim)", wrong.with_steps(scale=1.0)
        ),
    ),
)
