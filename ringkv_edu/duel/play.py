"""The referee: plays a talk against a policy, and counts.

A **policy** is called after each token with the memory, in which the token already stands. It must
bring ``memory.used`` down to ``memory.budget``; if it does not, the play ends there with
``OverBudget``. A policy may have a method ``fetch(memory, query)``: it is called before a question
is answered, and may bring entries back from the archive, within the budget, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .memory import Memory
from .talk import Token, answer_of, codes

__all__ = ["OverBudget", "Play", "play"]

KIB = 1024
Policy = Callable[[Memory], Any]


class OverBudget(Exception):
    """A policy left more in the memory than fits; says where."""


@dataclass(frozen=True)
class Play:
    """What came out: questions and right answers, the most bytes held, bytes read back, seconds.

    ``error`` is the mean distance of an output from the right value's direction, which is 1 long.
    """

    questions: int
    right: int
    peak: int
    error: float
    moved: int
    seconds: float
    tokens: int

    @property
    def recall(self) -> float:
        """The share of questions that were answered right."""
        return self.right / self.questions

    @property
    def recall_per_kib(self) -> float:
        """Recall over the most KiB that were held."""
        return self.recall / (self.peak / KIB)


def play(policy: Policy, talk: Sequence[Token], budget: int) -> Play:
    """Play one talk; ``seconds`` counts the policy's own time alone. Raises ``OverBudget``."""
    memory, peak, right, errors, seconds = Memory(budget), 0, 0, [], 0.0
    fetch = getattr(policy, "fetch", None)
    directions = codes()
    for token in talk:
        memory.write(token)
        seconds += _timed(policy, memory)
        peak = max(peak, _checked(memory, budget, token, "after"))
        if token.query is None or token.answer is None:
            continue
        if fetch is not None:
            seconds += _timed(fetch, memory, token.query)
            peak = max(peak, _checked(memory, budget, token, "having fetched for"))
        out = memory.attend(token.query) if memory.entries else np.zeros_like(token.query)
        right += answer_of(out) == token.answer
        errors.append(float(np.linalg.norm(out - directions[token.answer])))
    error = sum(errors) / len(errors)
    return Play(len(errors), right, peak, error, memory.moved, seconds, len(talk))


def together(plays: Iterable[Play]) -> Play:
    """Add up plays of several talks: sums, the highest peak, the mean error of all questions."""
    every = list(plays)
    questions = sum(one.questions for one in every)
    return Play(
        questions,
        sum(one.right for one in every),
        max(one.peak for one in every),
        sum(one.error * one.questions for one in every) / questions,
        sum(one.moved for one in every),
        sum(one.seconds for one in every),
        sum(one.tokens for one in every),
    )


def _timed(call: Callable[..., Any], *given: Any) -> float:
    begun = perf_counter()
    call(*given)
    return perf_counter() - begun


def _checked(memory: Memory, budget: int, token: Token, when: str) -> int:
    used = memory.used
    if used > budget:  # the referee's own: a policy may write over what it was told
        raise OverBudget(
            f"{used:,} bytes are held {when} position {token.position}, "
            f"{budget:,} are allowed: drop, shrink or fold until it fits"
        )
    return used
