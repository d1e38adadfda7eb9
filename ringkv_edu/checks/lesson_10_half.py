"""Lesson 10, case 4: a position meets places (after Blaizzy/mlx-vlm#1138)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from ..given_cases import HalfWindow
from .lesson_10_common import (
    ALL_WINDOWS,
    NEVER,
    line_case,
    mistakes_in,
    near,
    try_cases,
    usual_mutants,
)
from .lesson_10_half_mistakes import (
    Clamped,
    Later,
    Mended,
    Modulo,
    NotItself,
    OneOff,
    Own,
)
from .model import Case, Exercise, answers

__all__ = ["HALF"]

RIGHT = [
    "masks()",
    'masks(order="newest first")',
    'masks(spare=2, order="as slots")',
    "masks(spare=3)",
]
WRONG = [
    'masks("half", windows=[5])',
    'masks("half, never empty")',
    'masks("half", lengths=range(8, 10))',
    'masks("nothing", lengths=range(16, 20))',
    'masks("one less", windows=[6], spare=2)',
    'masks("one less", windows=range(2, 99), lengths=range(5, 7))',
    'masks("all that is held", spare=1)',
    'masks("nothing", lengths=[1])',
    'masks("one behind", spare=1)',
    'masks("all that is held", spare=2, windows=[2], lengths=range(12, 16))',
]
Look = Callable[[list[Any], list[bool], set[int]], bool]


def _exactly(held: list[Any], mask: list[bool], right: set[int]) -> bool:
    return {token for token, sees in zip(held, mask, strict=True) if sees} == right


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    until: Callable[[int], int] = lambda window: 20,
    holds: Look = _exactly,
    looks: Callable[[int, int], bool] = lambda length, window: True,
) -> Callable[[Any], None]:
    """Make a test that looks after the token at which ``looks(length, window)``."""

    def test(cache_class: Any) -> None:
        for window in windows:
            cache = cache_class(window)
            for position in range(until(window)):
                cache.append(position)
                right = near(position, window)
                looked = looks(position + 1, window)
                if looked and not holds(list(cache.held()), list(cache.mask()), right):
                    raise AssertionError

    return test


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    cache = cache_class(4)
    cache.append(7)
    if cache.buffer != [7]:
        raise AssertionError


def _mend_case(window: int, tokens: int) -> Case:
    line = f"c = MendedHalf({window}); "
    line += f"looks = [(c.append(t), c.held(), c.mask()) for t in range({tokens})]"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        shown = {}
        for token, (_, held, mask) in enumerate(space["looks"]):
            pairs = zip(held, mask, strict=True)
            shown[f"tokens that {token} sees"] = sorted(key for key, sees in pairs if sees)
        return shown

    return line_case(line, "MendedHalf", look)


def _cases(rng: Random) -> list[Case]:
    sizes = [(4, 12), (1, 4), (2, 7), (rng.choice([3, 5, 6]), 16)]
    mends = [_mend_case(*size) for size in sizes]
    return try_cases("catches_half", "HalfWindow", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_half", "MendedHalf")

HALF = Exercise(
    id="cf4-half",
    names=("catches_half", "MendedHalf"),
    cases=_cases,
    reference=answers(catches_half=usual(), MendedHalf=Mended),
    mutants=(
        *usual_mutants(
            "catches_half", HalfWindow, usual, f"{NEVER}; it must look at the mask, too"
        ),
        _test(
            "too-short",
            "no text is longer than the window: nothing has left it yet",
            usual(until=lambda window: window),
        ),
        _test(
            "twice-the-window",
            "every text ends at 2 W tokens: what is wrong may come later",
            usual(until=lambda window: 2 * window),
        ),
        _test(
            "at-the-end",
            "one look is taken, at the end: look after each token",
            usual(looks=lambda length, window: length == 20),
        ),
        _test(
            "never-empty",
            "it is asked that something is seen, not what",
            usual(holds=lambda held, mask, right: any(mask)),
        ),
        _test(
            "counted",
            "what the mask lets through is counted: it may be as many, and the wrong ones",
            usual(holds=lambda held, mask, right: sum(mask) == len(right)),
        ),
        _test(
            "at-most",
            "an upper bound is asked alone: the window may close",
            usual(
                holds=lambda held, mask, right: (
                    {token for token, sees in zip(held, mask, strict=True) if sees} <= right
                )
            ),
        ),
        _test(
            "at-least",
            "a lower bound is asked alone: what has left the window may be seen",
            usual(
                holds=lambda held, mask, right: (
                    {token for token, sees in zip(held, mask, strict=True) if sees} >= right
                )
            ),
        ),
        _test(
            "all-true",
            "every entry of the mask is asked to be True: a right cache may hold more, and mask it",
            usual(holds=lambda held, mask, right: all(mask)),
        ),
        _test(
            "order",
            "an order of what is held is asked for: it may be any",
            usual(
                holds=lambda held, mask, right: (
                    [token for token, sees in zip(held, mask, strict=True) if sees] == sorted(right)
                )
            ),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", HalfWindow),
        _mend(
            "clamped-to-w",
            "the query is clamped to W: the last place is W - 1, so the oldest key is lost",
            Clamped,
        ),
        _mend(
            "modulo",
            "the query's position goes round like a slot: it sees the keys up to that place",
            Modulo,
        ),
        _mend(
            "closes-later",
            "the bound is made wider: the window closes all the same, later",
            Later,
        ),
        _mend("not-itself", "the token does not see itself", NotItself),
        _mend("one-off", "every distance is one too large", OneOff),
        _mend(
            "itself-alone",
            "the token sees itself in any case, and the window closes around it",
            Own,
        ),
    ),
)
