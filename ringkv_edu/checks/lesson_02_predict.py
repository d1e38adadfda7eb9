"""Lesson 02: which outputs change with one value."""

from __future__ import annotations

from random import Random
from typing import Any

from .compare import plain
from .model import Case, Exercise, Mutant, answers

__all__ = ["PREDICT"]


def _predict_cases(rng: Random) -> list[Case]:
    text = "changed, when only the value of token 9 is another, W = 4"
    return [Case(text, lambda answer: {"changed": _sorted(answer.changed)})]


def _sorted(values: Any) -> Any:
    """Put whole numbers in order, whatever holds them; leave anything else as it is."""
    found = plain(sorted(values) if isinstance(values, set | frozenset) else values)
    ordered = isinstance(found, list) and all(isinstance(value, int | float) for value in found)
    return sorted(found) if ordered else found


PREDICT = Exercise(
    id="predict02",
    names=("changed",),
    cases=_predict_cases,
    reference=answers(changed=[9, 10, 11, 12]),
    mutants=(
        Mutant(
            "only-itself",
            "only the token's own output is thought to change: later queries average its value, "
            "too, while they see it",
            answers(changed=[9]),
        ),
        Mutant(
            "all-later",
            "every later output is thought to change: after three more tokens, token 9 has left "
            "the window",
            answers(changed=[9, 10, 11, 12, 13, 14]),
        ),
        Mutant(
            "one-more",
            "one query too many sees token 9: the window counts the query itself, so token 13 "
            "sees 10 to 13",
            answers(changed=[9, 10, 11, 12, 13]),
        ),
        Mutant(
            "one-less",
            "one query too few sees token 9: token 12 sees 9 to 12",
            answers(changed=[9, 10, 11]),
        ),
        Mutant(
            "not-itself",
            "token 9's own output is left out: it is written first and then attends, so it sees "
            "itself",
            answers(changed=[10, 11, 12]),
        ),
        Mutant(
            "shifted",
            "the W tokens after token 9 are named: it sees itself, and token 13 no longer sees it",
            answers(changed=[10, 11, 12, 13]),
        ),
        Mutant(
            "one-early",
            "token 8 is named: its query ran before token 9 was there",
            answers(changed=[8, 9, 10, 11, 12]),
        ),
        Mutant(
            "one-early-and-short",
            "all four are one too early: token 8's query ran before token 9 was there, and token "
            "12 sees 9 to 12",
            answers(changed=[8, 9, 10, 11]),
        ),
        Mutant(
            "backwards",
            "these are the tokens that token 9 sees: the question is which tokens see it",
            answers(changed=[6, 7, 8, 9]),
        ),
        Mutant(
            "everything",
            "every output is thought to change: a query never sees a later token",
            answers(changed=list(range(15))),
        ),
    ),
)
