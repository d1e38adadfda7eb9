"""Lesson 11: which policies remember most in 4 KiB."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from ..duel.contest import play_rival
from ..duel.rivals import RIVALS
from .model import Case, Exercise, Mutant, answers

__all__ = ["PREDICT", "best_first"]

ASKED = ("window", "window + sinks", "summaries", "retrieval")
BUDGET, TALKS = 4096, 20


@cache
def recalls() -> dict[str, float]:
    """Give each policy's recall in 4 KiB, on the first twenty talks."""
    return {name: play_rival(RIVALS[name], BUDGET, range(TALKS)).recall for name in ASKED}


def best_first() -> list[str]:
    """Give the policies asked for, the one that remembers most first."""
    return sorted(ASKED, key=lambda name: -recalls()[name])


MEASURED = ["retrieval", "window + sinks", "window", "summaries"]


def _one_by_one(order: Any) -> dict[str, Any]:
    if not isinstance(order, list | tuple) or len(order) != len(ASKED):
        return {"order": order}
    if sorted(map(str, order)) != sorted(ASKED):
        return {"the four names": sorted(map(str, order))}
    return {"the four names": sorted(ASKED)} | dict(zip(("1", "2", "3", "4"), order, strict=True))


def _cases(rng: Random) -> list[Case]:
    return [Case("4 KiB, twenty talks", lambda a: _one_by_one(a.order))]


PREDICT = Exercise(
    id="predict11",
    names=("order",),
    cases=_cases,
    reference=answers(order=MEASURED),
    mutants=(
        Mutant(
            "summaries-help",
            "means are thought to keep facts: in the mean of eight tokens a key is an eighth of "
            "itself, and a question for it scores 14 / 8",
            answers(order=["retrieval", "window + sinks", "summaries", "window"]),
        ),
        Mutant(
            "summaries-over-sinks",
            "means are thought better than the first tokens themselves: a quarter of the questions "
            "ask for those, and a mean answers none",
            answers(order=["retrieval", "summaries", "window + sinks", "window"]),
        ),
        Mutant(
            "summaries-first",
            "means of all are thought to beat exact copies of some",
            answers(order=["summaries", "retrieval", "window + sinks", "window"]),
        ),
        Mutant(
            "sinks-cost",
            "six sinks are thought to cost more than they bring: half of the questions ask for the "
            "last tokens, and nine of those still fit",
            answers(order=["retrieval", "window", "window + sinks", "summaries"]),
        ),
        Mutant(
            "disk-is-slow",
            "retrieval is thought to forget: it is slow, but the disk forgets nothing",
            answers(order=["window + sinks", "window", "summaries", "retrieval"]),
        ),
        Mutant(
            "worst-first",
            "the order is turned round: the best comes first",
            answers(order=MEASURED[::-1]),
        ),
    ),
)
