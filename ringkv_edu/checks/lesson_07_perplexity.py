"""Lesson 07: perplexity from logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from .lesson_07_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["PERPLEXITY"]

Array = npt.NDArray[Any]
Losses = Callable[[Array, Array], Array]  # of logits (n, vocab), tokens (n,)


def perplexity(logits: npt.ArrayLike, tokens: Sequence[int]) -> float:
    """Give exp of the mean surprise of each token but the first."""
    return float(np.exp(_losses(np.asarray(logits), np.asarray(tokens)).mean()))


def log_softmax(logits: Array) -> Array:
    """Give log probabilities (n, vocab), with the largest logit taken off first."""
    down = logits - logits.max(axis=-1, keepdims=True)
    out: Array = down - np.log(np.exp(down).sum(axis=-1, keepdims=True))
    return out


def _losses(logits: Array, tokens: Array) -> Array:
    return _picked(log_softmax(logits[:-1]), tokens[1:])


def _picked(logs: Array, tokens: Array) -> Array:
    out: Array = -logs[np.arange(len(tokens)), tokens]
    return out


def _with(
    losses: Losses, whole: Callable[[Array], Any] = lambda each: np.exp(each.mean())
) -> dict[str, Any]:
    def mutant(logits: npt.ArrayLike, tokens: Sequence[int]) -> Any:
        with np.errstate(all="ignore"):
            return whole(losses(np.asarray(logits), np.asarray(tokens)))

    return answers(perplexity=mutant)


def _no_shift(logits: Array, tokens: Array) -> Array:
    return _picked(log_softmax(logits), tokens)


def _no_shift_cut(logits: Array, tokens: Array) -> Array:
    return _picked(log_softmax(logits[1:]), tokens[1:])


def _shifted_back(logits: Array, tokens: Array) -> Array:
    return _picked(log_softmax(logits[1:]), tokens[:-1])


def _raw(logits: Array, tokens: Array) -> Array:
    return _picked(logits[:-1], tokens[1:])


def _unshielded(logits: Array, tokens: Array) -> Array:
    weights = np.exp(logits[:-1])
    return _picked(np.log(weights / weights.sum(axis=-1, keepdims=True)), tokens[1:])


def _one_softmax(logits: Array, tokens: Array) -> Array:
    down = logits[:-1] - logits[:-1].max()
    return _picked(down - np.log(np.exp(down).sum()), tokens[1:])


def _one_maximum(logits: Array, tokens: Array) -> Array:
    weights = np.exp(logits[:-1] - logits[:-1].max())
    return _picked(np.log(weights / weights.sum(axis=-1, keepdims=True)), tokens[1:])


def _all_pairs(logits: Array, tokens: Array) -> Array:
    out: Array = -log_softmax(logits[:-1])[:, tokens[1:]]
    return out


def _wrong_axis(logits: Array, tokens: Array) -> Array:
    return _picked(log_softmax(logits[:-1].T).T, tokens[1:])


def _largest(logits: Array, tokens: Array) -> Array:
    out: Array = -log_softmax(logits[:-1]).max(axis=-1)
    return out


def _perplexity_cases(rng: Random) -> list[Case]:
    sizes = [(2, 3), (4, 5), (7, 4), (5, 2), (rng.randrange(3, 9), rng.randrange(3, 7))]
    cases = []
    for seed, (n, vocab) in enumerate(sizes):
        tokens = [rng.randrange(vocab) for _ in range(n)]
        cases.append(f'perplexity(numbers(draw({seed}, "mo4"), {n}, {vocab}), {tokens})')
    cases.append("perplexity(np.zeros((4, 8)), [0, 7, 3, 3])")
    cases.append('perplexity(500 + numbers(draw(9, "mo4"), 5, 4), [3, 0, 1, 1, 2])')
    large = "perplexity(1000 + np.array([[1.0, 0.5], [0.0, 1.5], [1.0, 1.0]]), [0, 1, 0])"
    low = "perplexity(np.array([[1.0, 0.5], [0.0, 1.5], [1.0, 1.0]]) - 2000, [0, 1, 0])"
    far = "perplexity(np.array([[1000.0, 999.5], [-999.0, -1000.0], [0.0, 0.0]]), [0, 1, 1])"
    return [call_case(call, "perplexity") for call in (*cases, large, low, far)]


PERPLEXITY = Exercise(
    id="mo4-perplexity",
    names=("perplexity",),
    cases=_perplexity_cases,
    reference=answers(perplexity),
    mutants=(
        Mutant(
            "no-shift",
            "each row is asked for its own token: row i comes from the query at i, and predicts "
            "token i + 1",
            _with(_no_shift),
        ),
        Mutant(
            "no-shift-cut",
            "the first row is left out where the last should be: row i predicts token i + 1",
            _with(_no_shift_cut),
        ),
        Mutant(
            "shifted-back",
            "each row is asked for the token before its own: row i predicts token i + 1",
            _with(_shifted_back),
        ),
        Mutant(
            "raw-logits",
            "logits are taken for log probabilities: take the log of the sum of their exp off",
            _with(_raw),
        ),
        Mutant(
            "overflow",
            "the largest logit is not taken off before exp: exp(1000) is infinite, and exp(-2000) "
            "is 0",
            _with(_unshielded),
        ),
        Mutant(
            "one-maximum",
            "the largest of all logits is taken off every row: each row has its own, or a row far "
            "below it becomes 0 / 0",
            _with(_one_maximum),
        ),
        Mutant(
            "all-pairs",
            "every token is looked up in every row: pair them, logs[np.arange(n - 1), tokens[1:]]",
            _with(_all_pairs),
        ),
        Mutant(
            "one-softmax",
            "one softmax runs over all rows: each row is a prediction of its own",
            _with(_one_softmax),
        ),
        Mutant(
            "wrong-axis",
            "the softmax runs over the text: it runs over the vocabulary, the last axis",
            _with(_wrong_axis),
        ),
        Mutant(
            "largest",
            "the likeliest token is scored: the one that came is asked for",
            _with(_largest),
        ),
        Mutant(
            "no-exp",
            "the mean surprise is given, without exp",
            _with(_losses, lambda each: each.mean()),
        ),
        Mutant(
            "negative",
            "the sign is lost: a log probability is negative, and surprise is its opposite",
            _with(_losses, lambda each: np.exp(-each.mean())),
        ),
        Mutant(
            "sum",
            "the surprises are added up and not averaged: a longer text would always be worse",
            _with(_losses, lambda each: np.exp(each.sum())),
        ),
        Mutant(
            "mean-of-exp",
            "the mean is taken after exp: first the mean of the surprises, then exp",
            _with(_losses, lambda each: np.exp(each).mean()),
        ),
        Mutant(
            "divided-by-n",
            "the sum is divided by n: the first token is predicted by nothing, so n - 1 are scored",
            _with(_losses, lambda each: np.exp(each.sum() / (len(each) + 1))),
        ),
        Mutant(
            "power-of-two",
            "2 is raised to a surprise that was taken with the natural log: use exp, or log2 in "
            "both places",
            _with(_losses, lambda each: 2 ** each.mean()),
        ),
        Mutant(
            "log-two",
            "exp is used with log2: use the natural log, or 2 ** in place of exp",
            _with(_losses, lambda each: np.exp(each.mean() / np.log(2))),
        ),
    ),
)
