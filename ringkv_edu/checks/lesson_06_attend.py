"""Lesson 06: log n for a summary of n tokens, in one softmax with the exact keys."""

from __future__ import annotations

from random import Random

import numpy as np

from . import lesson_06_attend_mistakes as wrong
from .lesson_06_attend_mistakes import Array, attend_summaries, changed, masked
from .lesson_06_common import line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["ATTEND"]


def _attend_cases(rng: Random) -> list[Case]:
    runs = [
        (2, 3, [4, 2, 1], 2),
        (1, 1, [16], 2),
        (3, 2, [1, 1], 4),  # summaries of one token: as exact as the rest
        (2, 3, [3, 0, 0], 2),  # two of them are empty
        (4, 2, [0, 0], 4),  # nothing has left the window
        (3, 4, [rng.randrange(20, 90), 8, 4, rng.randrange(1, 4)], 4),
        (rng.randrange(2, 6), 3, [rng.randrange(2, 9) for _ in range(3)], 6),
    ]
    large = "np.array([1200.0, 0.0]), *np.ones((2, 1, 2)), np.eye(2), 3 * np.eye(2)"
    return [
        *(_case(rng.randrange(1000), *run) for run in runs),
        line_case(f"attend_summaries({large}, np.array([5, 2]))", "attend_summaries"),
    ]


def _case(seed: int, n: int, m: int, counts: list[int], d: int) -> Case:
    tokens, means = f"numbers(rng, 2, {n}, {d})", f"numbers(rng, 2, {m}, {d})"
    given = f"numbers(rng, {d}), *{tokens}, *{means}, np.array({counts})"
    before = f'rng = draw({seed}, "ps5"); '
    return line_case(f"attend_summaries({given})", "attend_summaries", before)


def _no_log(scores: Array, counts: Array) -> Array:
    return scores


ATTEND = Exercise(
    id="ps5-log-n",
    names=("attend_summaries",),
    cases=_attend_cases,
    reference=answers(attend_summaries),
    mutants=(
        Mutant(
            "no-log",
            "the counts are used for nothing but to find the empty ones: a mean of n tokens then "
            "has the weight of one",
            changed(score=masked(_no_log)),
        ),
        Mutant(
            "before-scaling",
            "log n is added before scaling, so that it is divided by sqrt(d), too: then exp gives "
            "less than n",
            changed(score=lambda raw, by, n: (raw + wrong.log_counts(n)) * by),
        ),
        Mutant(
            "adds-n",
            "n is added, not its logarithm: exp(score + n) is far more than n times exp(score)",
            changed(score=masked(lambda scores, n: scores + n)),
        ),
        Mutant(
            "times-n",
            "the score is multiplied by n: it is the weight that is to be n times as large, "
            "exp(score + log n)",
            changed(score=masked(lambda scores, n: scores * n)),
        ),
        Mutant(
            "times-log-n",
            "the score is multiplied by log n: log n is added",
            changed(score=masked(lambda scores, n: scores * np.log(n))),
        ),
        Mutant(
            "subtracted",
            "log n is subtracted: the weight is divided by n",
            changed(score=masked(lambda scores, n: scores - np.log(n))),
        ),
        Mutant(
            "log2",
            "the logarithm has base 2: only the natural one, np.log, is undone by exp",
            changed(score=masked(lambda scores, n: scores + np.log2(n))),
        ),
        Mutant(
            "log10",
            "the logarithm has base 10: only the natural one, np.log, is undone by exp",
            changed(score=masked(lambda scores, n: scores + np.log10(n))),
        ),
        Mutant(
            "log1p",
            "log(1 + n) is added: a summary of one token then weighs as much as two. It is log n, "
            "and -inf where n is 0",
            changed(score=lambda raw, by, n: raw * by + np.log1p(n)),
        ),
        Mutant(
            "log1p-masked",
            "log(1 + n) is added: a summary of one token then weighs as much as two",
            changed(score=masked(lambda scores, n: scores + np.log1p(n))),
        ),
        Mutant(
            "empties-seen",
            "an empty summary takes part like one of one token: a count of 0 stands for nothing, "
            "and what lies there is old. Its score must be -inf",
            changed(score=lambda raw, by, n: raw * by + wrong.log_counts(np.maximum(n, 1))),
        ),
        Mutant(
            "weights-after",
            "the weights are multiplied by n after the softmax and not divided by their new sum: "
            "they add up to more than 1",
            changed(weights=wrong.weighted_after),
        ),
        Mutant(
            "two-softmaxes",
            "window and summaries each get a softmax of their own and half of the output: one "
            "softmax over all keys decides what each is worth",
            changed(weights=wrong.of_each),
        ),
        Mutant(
            "two-added",
            "window and summaries each get a softmax of their own, and the two are added: the "
            "weights add up to 2",
            changed(weights=wrong.added),
        ),
        Mutant(
            "shares-by-count",
            "window and summaries each get a softmax of their own, weighed by their numbers of "
            "tokens: the scores must decide that, too, in one softmax",
            answers(attend_summaries=lambda *given: wrong.counts_as_weights(given)),
        ),
        Mutant(
            "values-times-n",
            "the values are multiplied by n, too: a summary's value is a mean, and log n has "
            "given it its weight",
            changed(values=lambda values, n: values * n[:, None]),
        ),
        Mutant(
            "no-scale",
            "the scores are not scaled by 1 / sqrt(d)",
            changed(scale=lambda q: 1.0),
        ),
        Mutant(
            "scale-d",
            "the scores are divided by d, not by its square root",
            changed(scale=lambda q: 1 / len(q)),
        ),
        Mutant(
            "scale-of-keys",
            "the scale uses the number of keys, not d",
            answers(attend_summaries=wrong.scale_of_keys),
        ),
        Mutant(
            "no-maximum",
            "the largest score is not subtracted before exp: large scores overflow",
            changed(weights=wrong.no_maximum),
        ),
        Mutant(
            "in-place",
            "what the summaries hold is written over: the next query needs it",
            answers(attend_summaries=wrong.in_place),
        ),
        Mutant(
            "weights-alone",
            "the weights are given: the output is the values, each times its weight, added up",
            answers(attend_summaries=wrong.weights_alone),
        ),
    ),
)
