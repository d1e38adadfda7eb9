"""Lesson 01: which keys a query sees."""

from __future__ import annotations

from random import Random
from typing import Any

from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["EDGE"]


def sees(query_position: int, key_position: int, window: int) -> bool:
    """Say whether the key is at or before the query, and fewer than ``window`` back."""
    return 0 <= query_position - key_position < window


def _edge_cases(rng: Random) -> list[Case]:
    pairs = [(5, 4), (2, 4), (0, 1), (9, 1), (rng.randrange(4, 15), rng.randrange(2, 7))]
    return [_edge_case(*pair) for pair in pairs]


def _edge_case(query: int, window: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        seen = [key for key in range(query + 4) if answer.sees(query, key, window)]
        return {"visible keys": seen}

    return Case(f"the query at position {query}, window {window}", run)


EDGE = Exercise(
    id="ex05-edge",
    names=("sees",),
    cases=_edge_cases,
    reference=answers(sees),
    mutants=(
        Mutant(
            "too-wide",
            "the window is one too wide, as if written t - W: that is W + 1 keys",
            answers(sees=lambda q, k, w: 0 <= q - k <= w),
        ),
        Mutant(
            "not-itself",
            "a token does not see itself: the window is W tokens before it, the "
            "first of the two rules above",
            answers(sees=lambda q, k, w: 1 <= q - k <= w),
        ),
        Mutant(
            "too-narrow",
            "the window is one too narrow: W counts the token itself once",
            answers(sees=lambda q, k, w: 0 <= q - k < w - 1),
        ),
        Mutant(
            "swapped",
            "query and key are swapped: the distance is query minus key",
            answers(sees=lambda q, k, w: 0 <= k - q < w),
        ),
        Mutant(
            "itself-lost",
            "a token does not see itself, and the window is one too narrow: distance 0 counts",
            answers(sees=lambda q, k, w: 0 < q - k < w),
        ),
        Mutant(
            "future",
            "keys after the query are seen: it looks into the future",
            answers(sees=lambda q, k, w: q - k < w),
        ),
        Mutant(
            "both-sides",
            "the window reaches as far ahead as back: the distance has a sign",
            answers(sees=lambda q, k, w: abs(q - k) < w),
        ),
        Mutant(
            "no-window",
            "everything before the query is seen: the window is not used",
            answers(sees=lambda q, k, w: k <= q),
        ),
    ),
)
