"""Lesson 10, case 1: one window in a chunk and another alone (after ml-explore/mlx-lm#390)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from ..given_cases import TwoWindows
from .lesson_10_common import ALL_WINDOWS, line_case, mistakes_in, near, try_cases, usual_mutants
from .lesson_10_window_mistakes import (
    BothWider,
    ChunkAlone,
    Forgets,
    Mended,
    OneBound,
    OneLess,
)
from .model import Case, Exercise, answers

__all__ = ["WINDOW"]

LIVES = ([1] * 20, [20], [1, 9, 2, 8])
Row = Any
RIGHT = [
    'steps(order="newest first")',
    'steps(order="as slots")',
    'steps(order="set")',
    'steps(order="tuple")',
]
WRONG = [
    'steps("one more", chunks=range(2, 99))',
    'steps("one more", chunks=[1])',
    'steps("one more")',
    'steps("one more", windows=[5], chunks=range(2, 99))',
    'steps("one more", windows=[1], chunks=range(2, 99))',
    'steps("one more", chunks=range(2, 99), starts=range(1, 99))',
    'steps("one more", chunks=range(2, 99), starts=[0])',
    'steps("one more", chunks=range(2, 99), positions=range(7, 9))',
    'steps("not itself", positions=range(7, 99))',
    'steps("one less", chunks=range(2, 99))',
]


def _same(row: Row, position: int, window: int) -> bool:
    return set(row) == near(position, window)


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    lives: Sequence[Sequence[int]] = LIVES,
    holds: Callable[[Row, int, int], bool] = _same,
    last_alone: bool = False,
) -> Callable[[Any], None]:
    """Make a test."""

    def test(cache_class: Any) -> None:
        for window in windows:
            for chunks in lives:
                cache, first = cache_class(window), 0
                for n in chunks:
                    rows = list(enumerate(cache.step(list(range(first, first + n))), first))
                    for position, row in rows[-1:] if last_alone else rows:
                        if not holds(row, position, window):
                            raise AssertionError
                    first += n

    return test


def _two_ways(cache_class: Any) -> None:
    for window in ALL_WINDOWS:
        whole, single, mixed = (cache_class(window) for _ in range(3))
        ones = [set(single.step([token])[0]) for token in range(20)]
        parts = [row for a, b in ((0, 3), (3, 12), (12, 20)) for row in mixed.step(range(a, b))]
        for rows in (whole.step(range(20)), parts):
            if [set(row) for row in rows] != ones:
                raise AssertionError


def _short(cache_class: Any) -> None:
    for window in ALL_WINDOWS:
        usual([window], ([window], [1] * window))(cache_class)


def _fields(cache_class: Any) -> None:
    cache = cache_class(4)
    cache.step(list(range(9)))
    if len(cache.held) != 4:
        raise AssertionError
    usual()(cache_class)


def _mend_case(window: int, chunks: Sequence[int]) -> Case:
    line = f"rows = versions.fed(MendedWindow({window}), {list(chunks)})"
    return line_case(
        line,
        "MendedWindow",
        lambda space: {f"row of token {p}": row for p, row in enumerate(space["rows"])},
    )


def _cases(rng: Random) -> list[Case]:
    lives = [(4, [6]), (4, [1] * 7), (4, [3, 1, 4, 1]), (1, [2, 1, 2]), (3, [1, 1, 5, 2])]
    lives.append((rng.randrange(2, 7), [rng.randrange(2, 9), 1, rng.randrange(2, 5), 1]))
    return try_cases("catches_window", "TwoWindows", RIGHT, WRONG) + [
        _mend_case(*life) for life in lives
    ]


_test, _mend = mistakes_in("catches_window", "MendedWindow")

WINDOW = Exercise(
    id="cf1-window",
    names=("catches_window", "MendedWindow"),
    cases=_cases,
    reference=answers(catches_window=usual(), MendedWindow=Mended),
    mutants=(
        *usual_mutants("catches_window", TwoWindows, usual),
        _test(
            "short-text",
            "no text is longer than the window: nothing has left it yet",
            _short,
        ),
        _test(
            "last-row",
            "only the last row of a chunk is looked at: others may be wrong",
            usual(last_alone=True),
        ),
        _test(
            "first-chunk",
            "only first chunks are tried: one may be wrong behind other tokens alone",
            usual(lives=([1] * 20, [20], [9], [2])),
        ),
        _test(
            "chunks-alone",
            "only chunks are tried: a single token may be what is wrong",
            usual(lives=([20], [2, 9, 3, 6])),
        ),
        _test(
            "single-alone",
            "only single tokens are tried: the chunk is what is wrong",
            usual(lives=([1] * 20,)),
        ),
        _test(
            "two-ways",
            "the two ways are compared with each other alone: both may be wrong",
            _two_ways,
        ),
        _test(
            "counted",
            "the tokens in a row are counted: they may be as many, and the wrong ones",
            usual(holds=lambda row, p, w: len(set(row)) == min(p + 1, w)),
        ),
        _test(
            "at-most",
            "an upper bound is asked alone: a token may see too few",
            usual(holds=lambda row, p, w: set(row) <= near(p, w)),
        ),
        _test(
            "order",
            "the oldest token is asked to stand first: rows may come in any order",
            usual(holds=lambda row, p, w: list(row) == sorted(near(p, w))),
        ),
        _test(
            "fields",
            "a field is read that right caches need not have: use the methods alone",
            _fields,
        ),
        _mend("as-reported", "the class is as it was reported", TwoWindows),
        _mend("one-less", "the bound goes one too far: W counts the token itself", OneLess),
        _mend(
            "both-wider",
            "single tokens are widened to what the chunk saw: now both are wrong",
            BothWider,
        ),
        _mend(
            "one-bound",
            "all rows of a chunk get the bound of its first: each row has its own",
            OneBound,
        ),
        _mend(
            "chunk-alone",
            "most rows of a chunk do not see what was held before it",
            ChunkAlone,
        ),
        _mend(
            "forgets",
            "too little is held for the next step: it needs the last W - 1",
            Forgets,
        ),
    ),
)
