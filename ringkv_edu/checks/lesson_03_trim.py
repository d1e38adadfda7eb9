"""Lesson 03, case file: a trim that never refuses (after ml-explore/mlx-lm#1512)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given_chunks import TwoCounters
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["TRIM"]

Trim = Callable[[TwoCounters, int], Any]


def trim(cache: TwoCounters, n: int) -> int:
    """Take back the newest n tokens and return how many, or change nothing and return 0."""
    n = min(n, cache.offset)
    if _lost(cache, n):
        return 0
    cache.offset -= n
    cache.index = cache.offset
    return n


def _lost(cache: TwoCounters, n: int) -> bool:
    return n < cache.offset and cache.offset > cache.max_size


def _refusing(lost: Callable[[TwoCounters, int], bool]) -> Trim:
    """Make a mutant that refuses at other times; the counters move as in the report."""

    def mutant(cache: TwoCounters, n: int) -> int:
        n = min(n, cache.offset)
        if lost(cache, n):
            return 0
        cache.offset -= n
        cache.index -= n
        return n

    return mutant


def _refusing_well(lost: Callable[[TwoCounters, int], bool]) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        return 0 if lost(cache, min(n, cache.offset)) else trim(cache, n)

    return mutant


def _index_modulo(cache: TwoCounters, n: int) -> int:
    n = min(n, cache.offset)
    cache.offset -= n
    cache.index = (cache.index - n) % cache.max_size
    return n


def _keeps(name: str) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        kept = getattr(cache, name)
        n = trim(cache, n)
        setattr(cache, name, kept)
        return n

    return mutant


def _says_n(cache: TwoCounters, n: int) -> int:
    n = min(n, cache.offset)
    trim(cache, n)
    return n


def _changes_first(cache: TwoCounters, n: int) -> int:
    n, lost = min(n, cache.offset), _lost(cache, min(n, cache.offset))
    cache.offset -= n
    cache.index -= n
    return 0 if lost else n


def _no_return(cache: TwoCounters, n: int) -> None:
    trim(cache, n)


def _trim_cases(rng: Random) -> list[Case]:
    """Draw (max_size, tokens, trimmed, tokens after)."""
    runs = [(4, 10, 2, 1), (4, 3, 1, 2), (4, 4, 1, 2), (4, 5, 1, 1), (4, 5, 5, 3), (4, 10, 10, 5)]
    runs += [(4, 6, 9, 2), (1, 3, 1, 1), (4, 4, 4, 2), (4, 0, 2, 1), (5, 8, 4, 2)]
    size = rng.randrange(3, 7)
    runs += [(size, size + rng.randrange(1, 2 * size), rng.randrange(1, 4), 2)]
    return [_trim_case(*run) for run in runs]


def _trim_case(size: int, tokens: int, trimmed: int, after: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        cache = TwoCounters(size)
        for token in range(tokens):
            cache.append(token)
        took = call(answer.trim, cache, trimmed, may_change=(0,))
        shown = {"result": took, "offset after trim": cache.offset}
        shown["held after trim"] = sorted(cache.held())
        for token in range(after):
            cache.append(100 + token)
            shown[f"held with {100 + token} appended"] = cache.held()
        return {**shown, "offset at the end": cache.offset}

    news = f"100 to {99 + after}" if after > 1 else "100"
    old = f"tokens 0 to {tokens - 1}" if tokens else "no tokens"
    return Case(f"max_size {size}, {old}, trim({trimmed}), then {news}", run)


TRIM = Exercise(
    id="case03-trim",
    names=("trim",),
    cases=_trim_cases,
    reference=answers(trim),
    mutants=(
        Mutant(
            "as-reported",
            "nothing is refused: after the wrap, the drafts lie where older tokens stood, and "
            "turning the counters back does not bring those back",
            answers(trim=_refusing(lambda cache, n: False)),
        ),
        Mutant(
            "index-modulo",
            "the index is mended, and nothing is refused: it was never the index that lost a token",
            answers(trim=_index_modulo),
        ),
        Mutant(
            "one-early",
            "a cache that has only just filled up refuses: nothing has been overwritten yet",
            answers(trim=_refusing_well(lambda c, n: n < c.offset and c.offset >= c.max_size)),
        ),
        Mutant(
            "never-all",
            "taking back everything is refused after the wrap: an empty text needs no old token",
            answers(trim=_refusing_well(lambda cache, n: cache.offset > cache.max_size)),
        ),
        Mutant(
            "one-early-never-all",
            "a full cache refuses everything: when it has only just filled up nothing is lost yet, "
            "and when all is taken back no old token is needed",
            answers(trim=_refusing_well(lambda cache, n: cache.offset >= cache.max_size)),
        ),
        Mutant(
            "index-negative",
            "the index falls below 0 when everything is taken back after the wrap: an empty "
            "cache begins at slot 0",
            answers(trim=_refusing(_lost)),
        ),
        Mutant(
            "always-refuses",
            "every trim is refused: before the wrap nothing has been lost",
            answers(trim=lambda cache, n: 0),
        ),
        Mutant(
            "room-asked",
            "n is compared with the size: what counts is whether a token that the shorter text "
            "needs was overwritten",
            answers(trim=_refusing(lambda cache, n: n > cache.max_size)),
        ),
        Mutant(
            "index-asked",
            "n is compared with the index: after the wrap the index only says where the next "
            "write goes",
            answers(trim=_refusing(lambda cache, n: n > cache.index)),
        ),
        Mutant(
            "index-kept",
            "the index stays where it was: the next token goes behind those taken back",
            answers(trim=_keeps("index")),
        ),
        Mutant(
            "offset-kept",
            "the offset stays where it was: the cache still counts the tokens taken back",
            answers(trim=_keeps("offset")),
        ),
        Mutant(
            "says-n",
            "a refused trim says that it took back n tokens: it took back 0",
            answers(trim=_says_n),
        ),
        Mutant(
            "changes-first",
            "the counters are changed before 0 is returned: a refusal leaves the cache as it was",
            answers(trim=_changes_first),
        ),
        Mutant("no-return", "nothing is returned", answers(trim=_no_return)),
    ),
)
