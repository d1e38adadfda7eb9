"""Lesson 10, case 5: a flag that was saved as a text (after ml-explore/mlx-lm#1250)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from ..given_cases import TextFlag
from .lesson_10_common import (
    ALL_WINDOWS,
    NEVER,
    line_case,
    mistakes_in,
    near,
    try_cases,
    usual_mutants,
)
from .lesson_10_flag_mistakes import (
    FromZero,
    Mended,
    NoText,
    flagged,
)
from .model import Case, Exercise, answers

__all__ = ["FLAG"]

RIGHT = [
    "saves()",
    'saves(order="newest first")',
    'saves(order="as slots")',
    'saves(order="set")',
]
WRONG = [
    'saves("empty slots", windows=[5])',
    'saves("empty slots", lengths=[0])',
    'saves("empty slots", lengths=range(1, 3))',
    'saves("turned")',
    'saves("turned", windows=[3], lengths=[2])',
    'saves("newest missing", lengths=range(7, 14))',
    'saves("nothing", windows=[2, 3, 6])',
    'saves("empty slots", lazy=True)',
]


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    lengths: Callable[[int], Iterable[int]] = lambda window: range(2 * window + 2),
    more: Callable[[int], int] = lambda window: 2 * window,
    holds: Callable[[Any, set[int]], bool] = lambda row, right: set(row) == right,
) -> Callable[[Any], None]:
    """Make a test that saves at ``lengths(window)`` and goes on for ``more(window)`` tokens."""

    def test(cache_class: Any) -> None:
        for window in windows:
            for length in lengths(window):
                cache = cache_class(window)
                cache.step(list(range(length)))
                cache = cache_class.load(cache.save())
                new = list(range(length, length + more(window)))
                for position, row in zip(new, cache.step(new), strict=True):
                    if not holds(row, near(position, window)):
                        raise AssertionError

    return test


def _saved_twice(cache_class: Any) -> None:
    for window in ALL_WINDOWS:
        for length in range(2 * window + 2):
            cache = cache_class(window)
            cache.step(list(range(length)))
            if repr(cache_class.load(cache.save()).save()) != repr(cache.save()):
                raise AssertionError


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    cache = cache_class(4)
    if cache_class.load(cache.save()).rotated != cache.rotated:
        raise AssertionError


def _mend_case(window: int, length: int) -> Case:
    line = f"c = MendedFlag({window}); c.step(list(range({length}))); saved = c.save(); "
    line += f"rows = MendedFlag.load(saved).step(list(range({length}, {length + window + 2})))"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        types = [type(value).__name__ for value in dict(space["saved"][1]).values()]
        shown: dict[str, Any] = {"types in the header other than str": sorted({*types} - {"str"})}
        rows = enumerate(space["rows"], length)
        key = lambda token: (token is not None, token)  # noqa: E731
        return shown | {f"row of token {p}": sorted(row, key=key) for p, row in rows}

    return line_case(line, "MendedFlag", look)


def _cases(rng: Random) -> list[Case]:
    sizes = [(4, 0), (4, 2), (4, 4), (4, 6), (1, 0), (2, 1), (3, 7)]
    window = rng.choice([5, 6])
    mends = [_mend_case(*size) for size in [*sizes, (window, rng.randrange(1, window))]]
    return try_cases("catches_flag", "TextFlag", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_flag", "MendedFlag")

FLAG = Exercise(
    id="cf5-flag",
    names=("catches_flag", "MendedFlag"),
    cases=_cases,
    reference=answers(catches_flag=usual(), MendedFlag=Mended),
    mutants=(
        *usual_mutants(
            "catches_flag", TextFlag, usual, f"{NEVER}; it must let the loaded cache go on"
        ),
        _test(
            "full-alone",
            "only full rings are saved: then the flag is True, and so is its text",
            usual(lengths=lambda window: range(window, 2 * window + 2)),
        ),
        _test(
            "empty-alone",
            "only the empty cache is saved: the others count, too",
            usual(lengths=lambda window: [0]),
        ),
        _test(
            "empty-left-out",
            "the empty cache is not tried: it is saved, too",
            usual(lengths=lambda window: range(1, 2 * window + 2)),
        ),
        _test(
            "multiples",
            "only lengths that are multiples of W are saved: there much is right by luck",
            usual(lengths=lambda window: range(0, 2 * window + 2, window)),
        ),
        _test(
            "wrap-left-out",
            "no text is longer than the window when it is saved",
            usual(lengths=lambda window: range(window + 1)),
        ),
        _test(
            "one-more-token",
            "one token is taken after loading: a wrong order of slots shows when more tokens leave",
            usual(more=lambda window: 1),
        ),
        _test(
            "at-most",
            "it is asked that nothing foreign is seen: something may be missing",
            usual(holds=lambda row, right: set(row) <= right),
        ),
        _test(
            "at-least",
            "it is asked that nothing is missing: empty slots may be seen",
            usual(holds=lambda row, right: set(row) >= right),
        ),
        _test(
            "saved-twice",
            "what is saved before and after is compared: ask what the loaded cache does next",
            _saved_twice,
        ),
        _test(
            "order",
            "an order of tokens in a row is asked for: it may be any",
            usual(holds=lambda row, right: list(row) == sorted(right)),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", TextFlag),
        _mend(
            "never",
            "the flag is always False: a ring that has gone round loses slots",
            flagged(lambda header, slots: False),
        ),
        _mend(
            "inverted",
            "the flag is turned round: it is True where the text is not",
            flagged(lambda header, slots: header["rotated"] == "False"),
        ),
        _mend(
            "from-the-index",
            "the flag is made from the index: 0 stands for an empty ring and for a full one, and "
            "a ring that has gone round may stand anywhere",
            flagged(lambda header, slots: int(header["index"]) == 0),
        ),
        _mend(
            "index-lost",
            "the index is lost: the next token overwrites slot 0",
            FromZero,
        ),
        _mend("no-text", "the header holds something other than texts", NoText),
        _mend(
            "number",
            'the text is read as a number: `int("False")` raises',
            flagged(lambda header, slots: bool(int(header["rotated"]))),
        ),
    ),
)
