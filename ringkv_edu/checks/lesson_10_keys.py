"""Lesson 10, case 3: keys that are cut before they were seen (after lablup/mlxcel#405)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from ..given_cases import LastKeys
from .lesson_10_common import ALL_WINDOWS, line_case, mistakes_in, try_cases, usual_mutants
from .lesson_10_keys_mistakes import (
    ChunkAlone,
    Future,
    Mended,
    NeverCut,
    OneBound,
    Patched,
    TwiceAsMany,
    Zero,
)
from .model import Case, Exercise, answers

__all__ = ["KEYS"]

LIVES = ([20], [1, 9, 10], [3, 2, 8, 1, 6])
RIGHT = ["means()", "means(weights=True)"]
WRONG = [
    'means("cut", windows=[5])',
    'means("cut", starts=[0])',
    'means("cut", starts=range(1, 99))',
    'means("cut", positions=range(2, 5))',
    'means("cut, never empty")',
    'means("itself alone", positions=range(9, 13))',
    'means("nothing", positions=[0], windows=[1, 2, 3, 5, 6])',
    'means("one more", starts=[0])',
    'means("zeros for empty slots")',
]
SQUARES = [float(p * p) for p in range(20)]


def _close(mean: float, right: float) -> bool:
    return math.isclose(mean, right)


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    lives: Sequence[Sequence[int]] = LIVES,
    holds: Callable[[float, float], bool] = _close,
    text: Sequence[float] = SQUARES,
    last_alone: bool = False,
) -> Callable[[Any], None]:
    """Make a test."""

    def test(cache_class: Any) -> None:
        for window in windows:
            for chunks in lives:
                cache, first = cache_class(window), 0
                for n in chunks:
                    means = cache.step(list(text[first : first + n]))
                    pairs = list(enumerate(means, first + 1))
                    for end, mean in pairs[-1:] if last_alone else pairs:
                        seen = text[max(0, end - window) : end]
                        if not holds(mean, sum(seen) / len(seen)):
                            raise AssertionError
                    first += n

    return test


def _that_fit(cache_class: Any) -> None:
    for window in ALL_WINDOWS:
        usual([window], ([window], [1] * 20))(cache_class)


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    cache = cache_class(4)
    cache.step(SQUARES)
    if len(cache.held) > 4:
        raise AssertionError


def _mend_case(window: int, chunks: Sequence[int]) -> Case:
    line = f"c = MendedKeys({window}); "
    line += f"steps = [(c.step([10.0 * v * v for v in range(n)]), len(c.held)) for n in {chunks}]"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for number, (means, held) in enumerate(space["steps"], 1):
            shown |= {f"step {number}, row {row}": mean for row, mean in enumerate(means)}
            shown[f"entries in `held` after step {number}"] = held
        return shown

    return line_case(line, "MendedKeys", look)


def _cases(rng: Random) -> list[Case]:
    lives = [(4, [6]), (4, [1, 2, 1, 1, 1]), (4, [3, 7, 2]), (1, [2, 1, 3]), (3, [2, 2, 2, 2])]
    lives.append((rng.randrange(2, 7), [rng.randrange(2, 5), rng.randrange(7, 11), 3]))
    mends = [_mend_case(*life) for life in lives]
    return try_cases("catches_keys", "LastKeys", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_keys", "MendedKeys")

KEYS = Exercise(
    id="cf3-keys",
    names=("catches_keys", "MendedKeys"),
    cases=_cases,
    reference=answers(catches_keys=usual(), MendedKeys=Mended),
    mutants=(
        *usual_mutants("catches_keys", LastKeys, usual),
        _test(
            "no-nan-alone",
            "NaN is looked for, and nothing else: a number may be made of too few keys",
            usual(holds=lambda mean, right: mean == mean),
        ),
        _test(
            "all-alike",
            "all values are alike: so is every mean, whatever was seen",
            usual(text=[1.0] * 20),
        ),
        _test(
            "that-fit",
            "no chunk is longer than the window: such a chunk loses nothing",
            _that_fit,
        ),
        _test(
            "last-row",
            "the last row of a chunk is looked at alone: it sees the last W, which are there",
            usual(last_alone=True),
        ),
        _test(
            "first-chunk",
            "only first chunks are tried: one may be wrong behind other tokens alone",
            usual(lives=([20], [9], [3])),
        ),
        _test(
            "later-chunks",
            "no text begins with a long chunk: the first one may be wrong alone",
            usual(lives=([1, 9, 10], [1, 3, 8, 8])),
        ),
        _test(
            "to-the-last-digit",
            "equality is asked to the last digit: a right cache may add in another order",
            usual(text=[p * p / 10 for p in range(20)], holds=lambda mean, right: mean == right),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", LastKeys),
        _mend(
            "patched",
            "a row without keys is given itself to see: the NaN is gone, and other rows still see "
            "too few",
            Patched,
        ),
        _mend("zero", "a row without keys gives 0: its keys must not be thrown away", Zero),
        _mend(
            "twice-as-many",
            "the cut is made later, and before the chunk has been seen: a longer chunk meets it",
            TwiceAsMany,
        ),
        _mend(
            "never-cut",
            "nothing is cut any more: `held` grows with the text",
            NeverCut,
        ),
        _mend("future", "a query sees later tokens of its chunk", Future),
        _mend("one-bound", "all rows get the bound of the first: each has its own", OneBound),
        _mend(
            "chunk-alone",
            "a long chunk does not see what was held before it",
            ChunkAlone,
        ),
    ),
)
