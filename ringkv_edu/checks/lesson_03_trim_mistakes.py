"""Lesson 03: right and wrong trims of a cache of two counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..given_chunks import TwoCounters

Trim = Callable[[TwoCounters, int], Any]
Lost = Callable[[TwoCounters, int], bool]
CUT = (
    "n is not cut to the tokens that there are: keep `n = min(n, cache.offset)`, which is in the "
    "given code"
)
ONE_LESS = (
    "W - 1 tokens are thought enough, those that the next token needs: the shorter text needs its "
    "last `max_size` tokens, as in exercise 4"
)


def trim(cache: TwoCounters, n: int) -> int:
    """Take back the newest n tokens and return how many, or change nothing and return 0."""
    took: int = refusing_alone(lost)(cache, n)
    return took


def lost(cache: TwoCounters, n: int) -> bool:
    return n < cache.offset and cache.offset > cache.max_size


def refusing(lost: Lost) -> Trim:
    """Make a mutant that refuses at other times; the counters move as in the report."""

    def mutant(cache: TwoCounters, n: int) -> int:
        n = min(n, cache.offset)
        if lost(cache, n):
            return 0
        cache.offset -= n
        cache.index -= n
        return n

    return mutant


def refusing_well(lost: Lost) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        return 0 if lost(cache, min(n, cache.offset)) else trim(cache, n)

    return mutant


def index_modulo(cache: TwoCounters, n: int) -> int:
    n = min(n, cache.offset)
    cache.offset -= n
    cache.index = (cache.index - n) % cache.max_size
    return n


def one_less(index: Callable[[TwoCounters], int]) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        n = min(n, cache.offset)
        left = cache.offset - n
        if left and max(0, left - cache.max_size + 1) < cache.offset - cache.max_size:
            return 0
        cache.offset = left
        cache.index = index(cache)
        return n

    return mutant


def refusing_alone(lost: Lost) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        n = min(n, cache.offset)
        if lost(cache, n):
            return 0
        cache.offset -= n
        cache.index = cache.offset
        return n

    return mutant


def index_zero(cache: TwoCounters, n: int) -> int:
    refused = lost(cache, min(n, cache.offset))
    n = trim(cache, n)
    cache.index = cache.index if refused else 0
    return n


def not_cut(cache: TwoCounters, n: int) -> int:
    if lost(cache, n):
        return 0
    cache.offset -= n
    cache.index = cache.offset
    return n


def says_what_was_asked(cache: TwoCounters, n: int) -> int:
    return 0 if lost(cache, n) else (trim(cache, n), n)[1]


def raising(error: type[Exception]) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        if lost(cache, n):
            raise error
        return trim(cache, n)

    return mutant


def emptying(lost: Lost, says: Callable[[TwoCounters, int], int]) -> Trim:
    """Make a mutant that empties the cache where it should refuse."""

    def mutant(cache: TwoCounters, n: int) -> int:
        n = min(n, cache.offset)
        if not lost(cache, n):
            return trim(cache, n)
        said = says(cache, n)
        cache.offset = cache.index = 0
        return said

    return mutant


def keeping(name: str) -> Trim:
    def mutant(cache: TwoCounters, n: int) -> int:
        kept = getattr(cache, name)
        n = trim(cache, n)
        setattr(cache, name, kept)
        return n

    return mutant


def says_n(cache: TwoCounters, n: int) -> int:
    n = min(n, cache.offset)
    trim(cache, n)
    return n


def changes_first(cache: TwoCounters, n: int) -> int:
    n, refused = min(n, cache.offset), lost(cache, min(n, cache.offset))
    cache.offset -= n
    cache.index -= n
    return 0 if refused else n


def no_return(cache: TwoCounters, n: int) -> None:
    trim(cache, n)
