"""Lesson 07: where perplexity jumps, and what four sinks change about it."""

from __future__ import annotations

from random import Random
from typing import Any

from ..visibility import visible
from .compare import plain
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["PREDICT", "first_loss"]

NAMES = ("first_query", "first_scored", "first_lost", "lost_at")


def first_loss(window: int, sinks: int) -> tuple[int, int]:
    """Give the first query that misses an earlier token, and the token that it misses."""
    for query in range(2 * (window + sinks)):
        for key in range(query):
            if not visible(query, key, window, sinks):
                return query, key
    raise ValueError(f"window {window} with {sinks} sinks loses nothing so soon")


def _predicted() -> dict[str, Any]:
    query, _ = first_loss(256, 0)
    lost_at, lost = first_loss(252, 4)
    return dict(zip(NAMES, (query, query + 1, lost, lost_at), strict=True))


def _predict_cases(rng: Random) -> list[Case]:
    return [Case("W = 256, then W = 252 with 4 sinks", _look)]


def _look(answer: Answer) -> dict[str, Any]:
    return {name: plain(getattr(answer, name)) for name in NAMES}


PREDICT = Exercise(
    id="predict07",
    names=NAMES,
    cases=_predict_cases,
    reference=_predicted(),
    mutants=(
        Mutant(
            "still-seen",
            "the last query that still sees token 0 is named: with W = 256 that is the one at 255",
            answers(first_query=255, first_scored=256),
        ),
        Mutant(
            "one-late",
            "W is counted without the query itself: with W = 256 the query at 256 sees 1 to 256",
            answers(first_query=257, first_scored=258),
        ),
        Mutant(
            "own-token",
            "a query is thought to predict its own token: it predicts the next",
            answers(first_scored=256),
        ),
        Mutant(
            "through-the-layers",
            "30 layers are thought to keep token 0 in reach: what it told others travels on, and "
            "its own key and value are gone from every layer at once",
            answers(first_query=30 * 255, first_scored=30 * 255 + 1),
        ),
        Mutant(
            "through-the-layers-one-more",
            "30 layers are thought to keep token 0 in reach: what it told others travels on, and "
            "its own key and value are gone from every layer at once",
            answers(first_query=30 * 255 + 1, first_scored=30 * 255 + 2),
        ),
        Mutant(
            "sinks-lost",
            "token 0 is thought to leave with sinks, too: sinks 0 to 3 never do",
            answers(first_lost=0),
        ),
        Mutant(
            "five",
            "the first four tokens are 0, 1, 2 and 3: the next one is 4",
            answers(first_lost=5),
        ),
        Mutant(
            "counted-from-one",
            "the last sink is named: sinks never leave, and positions count from 0",
            answers(first_lost=3),
        ),
        Mutant(
            "window-alone",
            "the window is counted from the start of the text: 252 slots go round behind 4 sinks, "
            "so token 4 lasts until 4 + 252",
            answers(lost_at=252),
        ),
        Mutant(
            "window-and-sinks-twice",
            "the sinks are added to 256: the window is 252 here, and token 4 lasts until 4 + 252",
            answers(lost_at=260),
        ),
        Mutant(
            "last-that-sees-it",
            "the last query that still sees that token is named",
            answers(lost_at=255),
        ),
    ),
)
