"""Lesson 10, case 7: what a batch forgets (after ml-explore/mlx-lm#1631)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from ..given_cases import LostKeep
from .lesson_10_common import (
    ALL_WINDOWS,
    NEVER,
    line_case,
    mistakes_in,
    near,
    try_cases,
    usual_mutants,
)
from .model import Case, Exercise, answers

__all__ = ["KEEP"]

Sizes = Sequence[tuple[int, int]]  # (keep, tokens) of each cache
BATCHES: tuple[Sizes, ...] = (((2, 1), (3, 20), (0, 9)), ((1, 12), (2, 2), (3, 0)))
RIGHT = ["kept()", 'kept(order="newest first")', 'kept(order="as slots")', 'kept(order="set")']
WRONG = [
    'kept("lost", windows=[5])',
    'kept("lost", windows=[4])',
    'kept("lost", rows=[1])',
    'kept("lost", rows=[0])',
    'kept("lost", keeps=[3])',
    'kept("lost", keeps=[2])',
    'kept("of the first")',
    'kept("others kept")',
    'kept("at least one")',
    'kept("window lost")',
    'kept("of the last")',
    'kept("window lost", keeps=[1, 2, 3])',
    'kept("newest missing", keeps=[1, 2, 3])',
]


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    batches: Sequence[Sizes] = BATCHES,
    more: Callable[[int], int] = lambda window: 2 * window + 2,
    holds: Callable[[Any, set[int]], bool] = lambda seen, right: set(seen) == right,
    rows: Callable[[int], bool] = lambda row: True,
) -> Callable[[Any], None]:
    """Make a test that merges, extracts and goes on for ``more(window)`` tokens."""

    def test(cache_class: Any) -> None:
        for window in windows:
            for sizes in batches:
                caches = [cache_class(window, keep) for keep, _ in sizes]
                for cache, (_, length) in zip(caches, sizes, strict=True):
                    cache.step(list(range(length)))
                batch = cache_class.merge(caches)
                for row, (keep, length) in enumerate(sizes):
                    new = list(range(length, length + more(window)))
                    out = cache_class.extract(batch, row).step(new)
                    for position, seen in zip(new, out, strict=True):
                        right = near(position, window) | set(range(min(keep, position + 1)))
                        if rows(row) and not holds(seen, right):
                            raise AssertionError

    return test


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    batch = cache_class.merge([cache_class(4, 2)])
    if cache_class.extract(batch, 0).keep != 2:
        raise AssertionError


class Mended(LostKeep):
    """The batch carries `keep`; ``parts`` and ``made`` are where mutants differ."""

    @classmethod
    def merge(cls, caches: Sequence[Any]) -> list[Any]:
        """Put caches into one batch."""
        return [cls.parts(cache, caches) for cache in caches]

    @classmethod
    def extract(cls, batch: list[Any], row: int) -> Any:
        """Take one cache out of a batch again."""
        window, keep, tokens = batch[row]
        cache = cls(window, keep)
        cache.step(tokens)
        return cache

    @classmethod
    def parts(cls, cache: Any, caches: Sequence[Any]) -> tuple[int, int, list[Any]]:
        """Give what the batch carries of one cache."""
        return cache.window, cache.keep, cache.first + cache.last


def _carrying(parts: Callable[[Any, Sequence[Any]], tuple[int, int, list[Any]]]) -> type[Mended]:
    class Changed(Mended):
        @classmethod
        def parts(cls, cache: Any, caches: Sequence[Any]) -> tuple[int, int, list[Any]]:
            return parts(cache, caches)

    return Changed


def _mend_case(window: int, sizes: Sizes) -> Case:
    line = f"cs = [MendedKeep({window}, k) for k, n in {sizes}]; "
    line += f"[c.step(list(range(n))) for c, (k, n) in zip(cs, {sizes})]; "
    line += "b = MendedKeep.merge(cs); out = [MendedKeep.extract(b, row).step(list(range(50, "
    line += f"{52 + window}))) for row in range({len(sizes)})]"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        return {
            f"row {row} of the batch, new token {n}": sorted(seen)
            for row, rows in enumerate(space["out"])
            for n, seen in enumerate(rows, 50)
        }

    return line_case(line, "MendedKeep", look)


def _cases(rng: Random) -> list[Case]:
    lives: list[tuple[int, Sizes]] = [
        (4, [(2, 3), (2, 10)]),
        (4, [(0, 9), (3, 9)]),
        (4, [(3, 1), (1, 0)]),
        (1, [(2, 5), (0, 2)]),
        (rng.choice([2, 3, 5]), [(rng.randrange(1, 3), rng.randrange(4, 12)), (3, 2)]),
    ]
    mends = [_mend_case(*life) for life in lives]
    return try_cases("catches_keep", "LostKeep", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_keep", "MendedKeep")

KEEP = Exercise(
    id="cf7-keep",
    names=("catches_keep", "MendedKeep"),
    cases=_cases,
    reference=answers(catches_keep=usual(), MendedKeep=Mended),
    mutants=(
        *usual_mutants(
            "catches_keep",
            LostKeep,
            usual,
            f"{NEVER}; it must let what was extracted go on",
        ),
        _test(
            "keep-0",
            "no cache keeps anything: there is nothing to lose",
            usual(batches=[[(0, 1), (0, 20), (0, 9)]]),
        ),
        _test(
            "all-alike",
            "all caches of a batch have the same keep: then one for all will do",
            usual(batches=[[(k, 1), (k, 20), (k, 9)] for k in range(4)]),
        ),
        _test(
            "one-cache",
            "one cache goes through a batch alone: what belongs to another row is not noticed",
            usual(batches=[[(k, n)] for k in range(4) for n in (0, 1, 9, 20)]),
        ),
        _test(
            "first-row",
            "the first row is looked at alone",
            usual(
                batches=[[(k, n), (3 - k, 9)] for k in range(4) for n in (0, 20)],
                rows=lambda row: row == 0,
            ),
        ),
        _test(
            "not-gone-on",
            "one token is taken afterwards: what is lost may be missed later, in a full cache",
            usual(batches=[[(2, 1), (3, 2), (0, 1)], [(1, 2), (2, 2)]], more=lambda window: 1),
        ),
        _test(
            "short",
            "no cache has more tokens than it keeps when it is merged",
            usual(batches=[[(2, 1), (3, 3), (0, 0)], [(1, 0), (2, 2)]]),
        ),
        _test(
            "at-most",
            "it is asked that nothing more is seen: something may be missing",
            usual(holds=lambda seen, right: set(seen) <= right),
        ),
        _test(
            "sinks-alone",
            "it is asked that the first tokens are seen, and not the others",
            usual(holds=lambda seen, right: min(seen) == min(right)),
        ),
        _test(
            "order",
            "an order of tokens is asked for: it may be any",
            usual(holds=lambda seen, right: list(seen) == sorted(right)),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", LostKeep),
        _mend(
            "others-kept",
            "the tokens kept are left out of the batch: the first of those behind them are kept in "
            "their place",
            _carrying(lambda cache, caches: (cache.window, cache.keep, list(cache.last))),
        ),
        _mend(
            "of-the-first",
            "all caches get the keep of the first one",
            _carrying(lambda c, caches: (c.window, caches[0].keep, c.first + c.last)),
        ),
        _mend(
            "the-most",
            "all caches get the largest keep of the batch",
            _carrying(lambda c, caches: (c.window, max(x.keep for x in caches), c.first + c.last)),
        ),
        _mend(
            "as-many-as-there-are",
            "the tokens kept so far are counted: a short cache has not got all of them yet",
            _carrying(lambda c, caches: (c.window, len(c.first), c.first + c.last)),
        ),
        _mend(
            "window-too",
            "the window is made wider by what is kept: those come on top",
            _carrying(lambda c, caches: (c.window + c.keep, c.keep, c.first + c.last)),
        ),
        _mend(
            "kept-in-window",
            "the tokens kept are counted into the window: it has W besides them",
            _carrying(lambda c, caches: (max(1, c.window - c.keep), c.keep, c.first + c.last)),
        ),
    ),
)
