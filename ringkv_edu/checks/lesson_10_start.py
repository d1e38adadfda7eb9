"""Lesson 10, case 2: where the ring begins (after huggingface/transformers#47708)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from ..given_cases import RollingStart
from .lesson_10_common import ALL_WINDOWS, line_case, mistakes_in, near, try_cases, usual_mutants
from .lesson_10_start_mistakes import (
    All,
    FromZero,
    Late,
    Mended,
    Newest,
    OneShort,
    Skips,
)
from .model import Case, Exercise, answers

__all__ = ["START"]

RIGHT = ["reads()"]
WRONG = [
    'reads("empty slot", lengths=[1])',
    'reads("empty slot", windows=[5], lengths=[4])',
    'reads("newest twice", windows=[6], lengths=range(2, 6))',
    'reads("oldest missing", windows=[3, 5], lengths=range(3, 6))',
    'reads("out of order", lengths=range(12, 20))',
    'reads("out of order", windows=[2])',
    'reads("out of order", windows=[4], lengths=[6, 7])',
    'reads("out of order", lengths=range(2, 5))',
    'reads("empty slots too")',
]
Look = Callable[[list[Any], list[int]], bool]


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    until: Callable[[int], int] = lambda window: 20,
    holds: Look = lambda read, right: read == right,
    looks: Callable[[int, int], bool] = lambda length, window: True,
) -> Callable[[Any], None]:
    """Make a test that looks after the token at which ``looks(length, window)``."""

    def test(cache_class: Any) -> None:
        for window in windows:
            cache = cache_class(window)
            for position in range(until(window)):
                cache.write(position)
                if looks(position + 1, window):
                    right = sorted(near(position, window))
                    if not holds(list(cache.read()), right):
                        raise AssertionError

    return test


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    cache = cache_class(4)
    cache.write(7)
    if cache.slots[0] != 7:
        raise AssertionError


def _mend_case(window: int, tokens: int) -> Case:
    line = (
        f"c = MendedStart({window}); reads = [(c.write(t), c.read())[1] for t in range({tokens})]"
    )
    return line_case(
        line,
        "MendedStart",
        lambda space: {f"read after token {t}": row for t, row in enumerate(space["reads"])},
    )


def _cases(rng: Random) -> list[Case]:
    sizes = [(4, 9), (1, 3), (2, 5), (rng.choice([3, 5, 6]), 14)]
    mends = [_mend_case(*size) for size in sizes]
    return try_cases("catches_start", "RollingStart", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_start", "MendedStart")

START = Exercise(
    id="cf2-start",
    names=("catches_start", "MendedStart"),
    cases=_cases,
    reference=answers(catches_start=usual(), MendedStart=Mended),
    mutants=(
        *usual_mutants("catches_start", RollingStart, usual),
        _test(
            "full-alone",
            "the first look comes when the ring is full: what is wrong may be over by then",
            usual(looks=lambda length, window: length >= window),
        ),
        _test(
            "filling-alone",
            "the last look comes when the ring is full: what leaves it has not been tried",
            usual(until=lambda window: window),
        ),
        _test(
            "first-token-alone",
            "only the first token is looked at: look after each one",
            usual(until=lambda window: 1),
        ),
        _test(
            "at-the-end",
            "one look is taken, at the end: look after each token",
            usual(looks=lambda length, window: length == 20),
        ),
        _test(
            "first-skipped",
            "the first token is not looked at",
            usual(looks=lambda length, window: length > 1),
        ),
        _test(
            "any-order",
            "any order is taken: here the oldest must come first",
            usual(holds=lambda read, right: set(read) == set(right)),
        ),
        _test(
            "counted",
            "the tokens are counted: they may be as many, and the wrong ones",
            usual(holds=lambda read, right: len(read) == len(right)),
        ),
        _test(
            "no-empty-slot",
            "empty slots are looked for, and nothing else: tokens may be missing, twice or out of "
            "order",
            usual(holds=lambda read, right: None not in read),
        ),
        _test(
            "multiples",
            "a look is taken only where the length is a multiple of W: there the start is right "
            "by luck",
            usual(looks=lambda length, window: length % window == 0),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", RollingStart),
        _mend(
            "from-slot-0",
            "reading always begins at slot 0: once the ring has gone round the oldest is elsewhere",
            FromZero,
        ),
        _mend("one-late", "reading begins one slot late: the oldest comes last", Late),
        _mend("all-slots", "W slots are always read, empty ones, too", All),
        _mend(
            "skips-empty",
            "empty slots are left out, and the start is as it was: tokens are still missing",
            Skips,
        ),
        _mend("one-short", "a full ring gives one token less: the last W are wanted", OneShort),
        _mend("newest-first", "the newest comes first", Newest),
    ),
)
