"""Lesson 00, start here: one small exercise to meet the machinery, and a diagnostic."""

from __future__ import annotations

from random import Random
from typing import Any

from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

# ex00-last: the last W of a list


def last(tokens: list[int], window: int) -> list[int]:
    """Give the last ``window`` tokens, or all of them while there are fewer."""
    return tokens[-window:]


def _last_cases(rng: Random) -> list[Case]:
    sizes = [(10, 4), (4, 4), (3, 4), (5, 4), (0, 4), (6, 1)]
    sizes += [(rng.randrange(5, 12), rng.randrange(1, 5)) for _ in range(3)]
    return [_last_case([rng.randrange(100) for _ in range(n)], window) for n, window in sizes]


def _last_case(tokens: list[int], window: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.last, list(tokens), window)}

    return Case(f"last({tokens}, {window})", run)


def _without_floor(tokens: list[int], window: int) -> list[int]:
    return tokens[len(tokens) - window :]


def _emptied(tokens: list[int], window: int) -> list[int]:
    while len(tokens) > window:
        tokens.pop(0)
    return tokens


LAST = Exercise(
    id="ex00-last",
    names=("last",),
    cases=_last_cases,
    reference=answers(last),
    mutants=(
        Mutant(
            "first",
            "the first tokens are kept in place of the last",
            answers(last=lambda tokens, window: tokens[:window]),
        ),
        Mutant(
            "one-too-many",
            "one token too many is kept, as if written window + 1",
            answers(last=lambda tokens, window: tokens[-window - 1 :]),
        ),
        Mutant(
            "one-too-few",
            "one token too few is kept, as if written window - 1",
            answers(last=lambda tokens, window: tokens[max(0, len(tokens) - window + 1) :]),
        ),
        Mutant(
            "below-zero",
            "len(tokens) - window goes below 0 while the list is still short, and "
            "Python counts a negative start from the end",
            answers(last=_without_floor),
        ),
        Mutant(
            "newest-first",
            "the order is turned round: newest first",
            answers(last=lambda tokens, window: tokens[-window:][::-1]),
        ),
        Mutant("emptied", "tokens are removed from the caller's own list", answers(last=_emptied)),
    ),
)

# ex00-diagnostic: five values to know before lesson 01

QUESTIONS = ("wraps_to", "negative_wrap", "tail", "first_weight", "keys_seen")


def _diagnostic_cases(rng: Random) -> list[Case]:
    def ask(name: str) -> Case:
        return Case(f"the value of `{name}`", lambda answer: {name: getattr(answer, name)})

    return [ask(name) for name in QUESTIONS]


DIAGNOSTIC = Exercise(
    id="ex00-diagnostic",
    names=QUESTIONS,
    cases=_diagnostic_cases,
    reference=answers(wraps_to=2, negative_wrap=3, tail=[3, 4, 5], first_weight=0.5, keys_seen=10),
    mutants=(
        Mutant(
            "division",
            "14 % 4 is read as 14 / 4: % gives what is left over, 14 - 3 * 4",
            answers(wraps_to=3.5),
        ),
        Mutant(
            "quotient",
            "14 % 4 is read as 14 // 4: that counts the whole rounds, % what is left of the last",
            answers(wraps_to=3),
        ),
        Mutant(
            "c-modulo",
            "the result of -1 % 4 is given the sign of -1, as C does: in Python it has the sign of "
            "the divisor, so one step back from slot 0 is slot 3",
            answers(negative_wrap=-1),
        ),
        Mutant(
            "slice-two",
            "one item too few is taken: index -1 is the last item, so -3 begins the last three",
            answers(tail=[4, 5]),
        ),
        Mutant(
            "slice-off", "the last item is left out: [-3:] runs to the end", answers(tail=[3, 4])
        ),
        Mutant(
            "softmax-sum",
            "each weight is 1: softmax weights add up to 1, and equal scores share it equally",
            answers(first_weight=1.0),
        ),
        Mutant(
            "not-itself",
            "position 9 does not see itself: positions 0 to 9 are ten keys",
            answers(keys_seen=9),
        ),
    ),
)

EXERCISES = (LAST, DIAGNOSTIC)
