"""Lesson 11: a policy of one's own, measured against bars that other policies reached."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from ..duel.contest import play_rival
from ..duel.memory import Memory
from ..duel.play import OverBudget
from ..duel.rivals import RIVALS, best, fewer_bits, keep_all, scored, sinks, summaries, window
from .model import Case, Exercise, Mutant, answers

__all__ = ["DUEL"]

SEEDS, TOKENS = (100,), 250
BARS = (
    (4096, "window + sinks"),
    (2048, "window + sinks"),
    (2048, "fewer bits"),
    (2048, "everything"),
)


@cache
def bar(budget: int, rival: str) -> float:
    """Give the recall of a rival; "everything" has no budget."""
    if rival == "everything":
        return play_rival(lambda: keep_all, 2**40, SEEDS, TOKENS).recall
    return play_rival(RIVALS[rival], budget, SEEDS, TOKENS).recall


def _reached(given: Any, budget: int, rival: str) -> dict[str, Any]:
    make = given if isinstance(given, type) else lambda: given
    try:
        recall = play_rival(make, budget, SEEDS, TOKENS).recall
    except OverBudget as error:
        return {"it ends": str(error)}
    return {f"recall, up to what {rival} reached": min(recall, bar(budget, rival))}


def _case(budget: int, rival: str) -> Case:
    given = f"{budget // 1024} KiB, a talk of {TOKENS} tokens, against {rival}"
    return Case(given, lambda answer: _reached(answer.my_policy, budget, rival))


def _cases(rng: Random) -> list[Case]:
    return [_case(*one) for one in BARS]


def _policy(policy: Callable[[Memory], Any]) -> dict[str, Any]:
    return answers(my_policy=policy)


def _facts_alone(memory: Memory) -> None:
    """Keep facts, stale ones, too, as they are."""
    for entry in memory.entries[:-1]:
        if "=" not in entry.text:
            memory.drop(entry)
    window(memory)


def _nothing(memory: Memory) -> None:
    """Look, and do nothing."""
    memory.positions()


def _first_only(memory: Memory) -> None:
    while memory.used > memory.budget:
        memory.drop(memory.entries[-1])


DUEL = Exercise(
    id="du6-duel",
    names=("my_policy",),
    cases=_cases,
    reference=answers(my_policy=best),
    mutants=(
        Mutant(
            "nothing",
            "nothing is dropped, rounded or folded: bring `memory.used` down to `memory.budget`",
            _policy(_nothing),
        ),
        Mutant("window", "the newest tokens are kept, whatever they say", _policy(window)),
        Mutant("first", "the first tokens are kept, and nothing new", _policy(_first_only)),
        Mutant(
            "sinks",
            "the first tokens and the newest are kept: most of them are small talk",
            _policy(sinks),
        ),
        Mutant(
            "summaries",
            "the old is folded into means: no question finds a fact in a mean of eight",
            _policy(summaries),
        ),
        Mutant(
            "score",
            "what was asked for stays: a fact that has not been asked for yet goes too early",
            _policy(scored),
        ),
        Mutant(
            "bits",
            "everything is rounded: small talk in 4 bits still takes the place of facts, and "
            "stale facts stay",
            _policy(fewer_bits),
        ),
        Mutant(
            "facts-as-they-are",
            "facts alone are kept, exact, the stale among them: two answers for one name make a "
            "mixture",
            _policy(_facts_alone),
        ),
    ),
)
