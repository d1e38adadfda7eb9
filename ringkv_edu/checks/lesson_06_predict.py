"""Lesson 06: the share of attention that a summary of 16 tokens gets."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from .compare import plain
from .model import Case, Exercise, Mutant, answers

__all__ = ["PREDICT"]


def _predict_cases(rng: Random) -> list[Case]:
    return [
        Case("without, one summary beside 16 tokens", lambda a: _rounded("without", a.without)),
        Case("with_log, one summary beside 16 tokens", lambda a: _rounded("with_log", a.with_log)),
    ]


def _rounded(name: str, share: Any) -> dict[str, Any]:
    """Round to three decimals, so that 0.059 and 1/17 are the same answer."""
    number = float(share) if isinstance(share, Fraction) else plain(share)
    return {name: round(number, 3) if isinstance(number, float | int) else number}


PREDICT = Exercise(
    id="predict06",
    names=("without", "with_log"),
    cases=_predict_cases,
    reference=answers(without=1 / 17, with_log=1 / 2),
    mutants=(
        Mutant(
            "no-loss",
            "a mean is thought to weigh as much as its tokens: in a softmax it is one key among 17",
            answers(without=1 / 2),
        ),
        Mutant(
            "itself-left-out",
            "the summary is compared with the 16 tokens: a share is taken of all, itself included",
            answers(without=1 / 16),
        ),
        Mutant(
            "all-of-32",
            "the summary is counted as one key among 32: its 16 tokens are gone, so there are 17",
            answers(without=1 / 32),
        ),
        Mutant(
            "no-gain",
            "adding log 16 is thought to change nothing: exp(score + log 16) is 16 times as much",
            answers(with_log=1 / 17),
        ),
        Mutant(
            "log-as-weight",
            "the weight is thought to be log 16, or to grow by that: the log is added to the "
            "score, and exp undoes it",
            answers(with_log=2.7726 / 18.7726),
        ),
        Mutant(
            "all-for-the-summary",
            "the tokens of the window are thought to count as one: each of the 16 keeps its weight",
            answers(with_log=16 / 17),
        ),
        Mutant(
            "too-much",
            "the whole weight of 32 keys is thought to go to the summary: the 16 exact tokens "
            "keep theirs",
            answers(with_log=1.0),
        ),
        Mutant(
            "swapped",
            "the two numbers are swapped: without the logarithm the share is the smaller one",
            answers(without=1 / 2, with_log=1 / 17),
        ),
    ),
)
