"""Lesson 11: what a question brings back from the archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from ..duel.memory import Entry, Memory
from .lesson_11_common import after, bound
from .model import Case, Exercise, Mutant, answers

__all__ = ["FETCH"]


def fetch(memory: Memory, query: Any) -> None:
    """Bring back what scores highest with the query, as long as it fits."""
    _fetch(memory, query)


def _highest(scores: np.ndarray) -> Sequence[int]:
    return [int(at) for at in np.argsort(-scores, kind="stable")]


def _fits(memory: Memory, entry: Entry) -> bool:
    return memory.used + entry.nbytes <= memory.budget


def _fetch(
    memory: Memory,
    query: Any,
    order: Callable[[np.ndarray], Sequence[int]] = _highest,
    fits: Callable[[Memory, Entry], bool] = _fits,
    most: int = 10**6,
) -> None:
    scores = memory.search(query)
    for entry in [memory.archive[at] for at in order(scores)][:most]:
        if not fits(memory, entry):
            break
        memory.fetch(entry)


def _with(**parts: Any) -> dict[str, Any]:
    return answers(fetch=lambda memory, query: _fetch(memory, query, **parts))


def _by_shifting_index(memory: Memory, query: Any) -> None:
    for at in _highest(memory.search(query)):
        if at >= len(memory.archive) or not _fits(memory, memory.archive[at]):
            break
        memory.fetch(memory.archive[at])


def _searches_again(memory: Memory, query: Any) -> None:
    while memory.archive:
        best = memory.archive[_highest(memory.search(query))[0]]
        if not _fits(memory, best):
            break
        memory.fetch(best)


def _until_full(memory: Memory, entry: Entry) -> bool:
    return memory.used < memory.budget


def _makes_room(memory: Memory, query: Any) -> None:
    scores = memory.search(query)
    best = memory.archive[_highest(scores)[0]] if len(scores) else None
    if best is None:
        return
    while memory.entries and not _fits(memory, best):
        memory.drop(memory.entries[0])
    _fetch_all(memory, [best])


def _fetch_all(memory: Memory, found: Sequence[Entry]) -> None:
    for entry in found:
        memory.fetch(entry)


def _skips(memory: Memory, query: Any) -> None:
    for entry in [memory.archive[at] for at in _highest(memory.search(query))]:
        if _fits(memory, entry):
            memory.fetch(entry)


def _with_held(memory: Memory, query: Any) -> None:
    """Search by hand, so that nobody counts the bytes."""
    scores = np.array([entry.key @ query for entry in memory.archive])
    for entry in [memory.archive[at] for at in _highest(scores)]:
        if not _fits(memory, entry):
            break
        memory.fetch(entry)


def _cases(rng: Random) -> list[Case]:
    """Draw (tokens held, in the archive, entries that fit, bytes to spare, entries in 8 bits)."""
    runs = [(3, 4, 5, 0, 0), (3, 6, 6, 100, 0), (4, 5, 4, 0, 0), (2, 0, 6, 0, 0), (3, 3, 12, 0, 0)]
    runs += [(3, 6, 5, 80, 2), (2, 7, 6, 90, 3), (3, 8, 7, 0, 4)]
    runs += [(2, 9, 4, 100, 5), (2, 9, 3, 200, 5), (3, 9, 5, 150, 5), (2, 8, 4, 90, 4)]
    runs += [(3, rng.randrange(5, 9), rng.randrange(5, 8), rng.randrange(200), rng.randrange(3))]
    return [
        after(
            f'rng = draw({seed}, "du5"); memory = drawn_memory(rng, {tokens}, {fit} * 260 + {more}'
            f", archived={archived}, small={small}); fetch(memory, drawn_query(rng))",
            "fetch",
            bound,
        )
        for seed, (tokens, archived, fit, more, small) in enumerate(runs)
    ]


FETCH = Exercise(
    id="du5-fetch",
    names=("fetch",),
    cases=_cases,
    reference=answers(fetch),
    mutants=(
        Mutant(
            "lowest",
            "what scores lowest is brought back: the order is turned round",
            _with(order=lambda scores: [int(at) for at in np.argsort(scores, kind="stable")]),
        ),
        Mutant(
            "newest-dropped",
            "what was dropped last is brought back, whatever it scores",
            _with(order=lambda scores: range(len(scores) - 1, -1, -1)),
        ),
        Mutant(
            "oldest-dropped",
            "what was dropped first is brought back, whatever it scores",
            _with(order=lambda scores: range(len(scores))),
        ),
        Mutant(
            "size-of-score",
            "scores far below 0 count as high: a negative score is the opposite of a match",
            _with(order=lambda scores: _highest(np.abs(scores))),
        ),
        Mutant("one", "one entry is brought back, though there is room for more", _with(most=1)),
        Mutant(
            "until-full",
            "it goes on until the memory is full, and so beyond: first ask whether the next fits",
            _with(fits=_until_full),
        ),
        Mutant(
            "all",
            "everything is brought back, whether it fits or not",
            _with(fits=lambda memory, entry: True),
        ),
        Mutant(
            "shifted",
            "places in the archive are used after something left it: by then they mean other "
            "entries. Take the entries first, then fetch",
            answers(fetch=_by_shifting_index),
        ),
        Mutant(
            "searches-again",
            "the archive is searched anew for each entry: every search reads all keys. Once is "
            "enough",
            answers(fetch=_searches_again),
        ),
        Mutant(
            "by-hand",
            "the archive's keys are read past `memory.search`, so their bytes are not counted",
            answers(fetch=_with_held),
        ),
        Mutant(
            "makes-room",
            "something is dropped to make room: bring back only what fits",
            answers(fetch=_makes_room),
        ),
        Mutant(
            "skips",
            "it goes on behind the first one that does not fit, to lower scores: stop there",
            answers(fetch=_skips),
        ),
    ),
)
