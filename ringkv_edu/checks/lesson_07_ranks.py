"""Lesson 07's case file: ranks in the cache, and keys that were turned to true positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .lesson_07_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["RANKS"]

Positions = Sequence[int]
Turn = Callable[[int, int, int, int], int | None]  # key, query, window, sinks


def query_turns(positions: Positions, query: int, window: int, sinks: int) -> list[int | None]:
    """Give, for each slot, the position to which the query is turned to meet its key."""
    return [_turn(key, query, window, sinks) for key in positions]


def _seen(key: int, query: int, window: int, sinks: int) -> bool:
    return 0 <= key <= query and (query - key < window or key < sinks)


def _rank(query: int, window: int, sinks: int) -> int:
    return min(query, sinks + window - 1)


def _turn(key: int, query: int, window: int, sinks: int) -> int | None:
    if not _seen(key, query, window, sinks):
        return None
    return _rank(query, window, sinks) if key < sinks else query


def _with(turn: Turn) -> dict[str, Any]:
    return answers(
        query_turns=lambda positions, query, window, sinks: [
            turn(key, query, window, sinks) for key in positions
        ]
    )


def _where_seen(turn: Callable[[int, int, int, int], int]) -> dict[str, Any]:
    return _with(lambda *one: turn(*one) if _seen(*one) else None)


def _by_slot(positions: Positions, query: int, window: int, sinks: int) -> list[int | None]:
    found = query_turns(positions, query, window, sinks)
    turns = [_rank(query, window, sinks) if slot < sinks else query for slot in range(len(found))]
    return [None if one is None else turn for one, turn in zip(found, turns, strict=True)]


def _of_stored(positions: Positions, query: int, window: int, sinks: int) -> list[int | None]:
    rank = sum(key >= 0 for key in positions) - 1
    found = query_turns(positions, query, window, sinks)
    return [
        None if one is None else (rank if key < sinks else query)
        for one, key in zip(found, positions, strict=True)
    ]


def _shifted_keys(key: int, query: int, window: int, sinks: int) -> int | None:
    """Too wide by one."""
    if not (0 <= key <= query and (query - key <= window or key < sinks)):
        return None
    return _rank(query, window, sinks) if key < sinks else query


def _ranks_cases(rng: Random) -> list[Case]:
    asked: list[tuple[list[int], int, int, int]] = [
        ([0, 1, 8, 9, 6, 7], 9, 4, 2), ([0, 1, 2, 3, -1, -1], 3, 4, 2),
        ([0, 1, 2, 3, 4, 5], 5, 4, 2),
        ([0, 1, 6, 3, 4, 5], 6, 4, 2), ([8, 9, 6, 7], 9, 4, 0), ([0, -1, -1], 0, 2, 1),
        ([0, 1, 2, 20], 20, 1, 3), ([0, 13, 14, 9, 10, 11, 12], 14, 4, 1),
        ([7, 5, 1, 6, 0], 7, 3, 2),
        ([0, 1, 8, 9, 6, 7], 8, 4, 2),
    ]  # fmt: skip
    window, sinks = rng.randrange(3, 6), rng.randrange(1, 4)
    query = sinks + window * rng.randrange(2, 9) + rng.randrange(window - 1)
    held = [*range(sinks), *range(query - window + 1, query + 1)]
    rng.shuffle(held)
    asked.append((held, query, window, sinks))
    return [call_case(f"query_turns({', '.join(map(str, one))})", "query_turns") for one in asked]


RANKS = Exercise(
    id="case07-ranks",
    names=("query_turns",),
    cases=_ranks_cases,
    reference=answers(query_turns),
    mutants=(
        Mutant(
            "rank-for-all",
            "the query is turned to its rank for every key: the window's keys were turned to their "
            "true positions, so now they seem to lie in the future",
            _where_seen(lambda key, query, w, s: _rank(query, w, s)),
        ),
        Mutant(
            "position-for-all",
            "the query is turned to its true position for every key: the sinks then lie as far "
            "back as the text is long, and that is to be mended, too",
            _where_seen(lambda key, query, w, s: query),
        ),
        Mutant(
            "swapped",
            "sinks and window have changed places: the sinks are met from the rank",
            _where_seen(lambda key, query, w, s: query if key < s else _rank(query, w, s)),
        ),
        Mutant(
            "count-as-rank",
            "the count of tokens is taken for the rank: ranks begin at 0, so the newest of n has "
            "rank n - 1",
            _where_seen(lambda key, query, w, s: min(query, s + w) if key < s else query),
        ),
        Mutant(
            "rank-in-the-window",
            "the rank is counted in the window alone: the sinks are tokens of the cache, too",
            _where_seen(lambda key, query, w, s: min(query, w - 1) if key < s else query),
        ),
        Mutant(
            "full-from-the-start",
            "the cache is taken for full from the start: while it fills, the rank is the position",
            _where_seen(lambda key, query, w, s: s + w - 1 if key < s else query),
        ),
        Mutant(
            "of-stored",
            "every stored token counts for the rank: one that the query does not see (a later one, "
            "or one that slack still holds) does not",
            answers(query_turns=_of_stored),
        ),
        Mutant(
            "by-slot",
            "sinks are told by their slot: a sink is a token whose position is less than S",
            answers(query_turns=_by_slot),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide: W counts the query itself",
            _with(_shifted_keys),
        ),
        Mutant(
            "sinks-unseen",
            "the sinks are not seen once they have left the window",
            _with(lambda key, query, w, s: query if _seen(key, query, w, 0) else None),
        ),
        Mutant(
            "future-seen",
            "a key behind the query is seen: nothing later than the query is",
            _with(
                lambda key, query, w, s: (
                    _turn(key, query, w, s)
                    if key <= query
                    else (_rank(query, w, s) if key < s else query)
                )
            ),
        ),
        Mutant(
            "empty-seen",
            "an empty slot is seen: -1 holds no key",
            _with(
                lambda key, query, w, s: _rank(query, w, s) if key < 0 else _turn(key, query, w, s)
            ),
        ),
        Mutant(
            "everything",
            "every slot gets a number: a query does not see empty slots, later tokens, or tokens "
            "that have left the window. Those are None",
            _with(lambda key, query, w, s: _rank(query, w, s) if key < s else query),
        ),
        Mutant(
            "distances",
            "distances are given: give the position to which the query is turned",
            _where_seen(lambda key, query, w, s: (_turn(key, query, w, s) or 0) - key),
        ),
    ),
)
