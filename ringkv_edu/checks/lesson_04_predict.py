"""Lesson 04: where slots used as positions go wrong, and where they look right again."""

from __future__ import annotations

from random import Random

from .model import Case, Exercise, Mutant, answers

__all__ = ["PREDICT"]


def _predict_cases(rng: Random) -> list[Case]:
    return [
        Case("first_wrong, in 6 slots", lambda a: {"first_wrong": a.first_wrong}),
        Case("right_again, in 6 slots", lambda a: {"right_again": a.right_again}),
    ]


PREDICT = Exercise(
    id="predict04",
    names=("first_wrong", "right_again"),
    cases=_predict_cases,
    reference=answers(first_wrong=6, right_again=11),
    mutants=(
        Mutant(
            "full",
            "the token that fills the ring is named: token 5 still lies in slot 5",
            answers(first_wrong=5),
        ),
        Mutant(
            "one-late",
            "the first wrap is thought to come one token later: token 6 lies in slot 0 already",
            answers(first_wrong=7),
        ),
        Mutant(
            "from-the-start",
            "slots are thought wrong from the first tokens on: tokens 0 to 5 lie in slots 0 to 5",
            answers(first_wrong=1),
        ),
        Mutant(
            "count",
            "tokens are counted from 1: when 12 tokens have been seen, the newest is token 11",
            answers(right_again=12),
        ),
        Mutant(
            "one-early",
            "token 10 is named: it lies in slot 4, and slot 5 behind it still holds token 5",
            answers(right_again=10),
        ),
        Mutant(
            "later",
            "the second such token is named: there is one a round earlier",
            answers(right_again=17),
        ),
        Mutant(
            "next-token",
            "the token after the first wrap is named: slots 2 to 5 still hold older tokens "
            "and seem to lie in the future",
            answers(right_again=7),
        ),
        Mutant(
            "never",
            "no such token is thought to exist: look at the ring when the last slot was written",
            answers(right_again=None),
        ),
    ),
)
