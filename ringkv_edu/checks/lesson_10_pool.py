"""Lesson 10, case 8: slots that nobody gives back (after ollama/ollama#12543)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from ..given_cases import Pool
from .lesson_10_common import ALL_WINDOWS, line_case, mistakes_in, try_cases, usual_mutants
from .lesson_10_pool_mistakes import (
    Emptied,
    Mended,
    NeverRefuses,
    NewAlone,
    NotExactly,
    StoresFirst,
    TooFew,
    WaitingAlone,
)
from .model import Case, Exercise, answers

__all__ = ["POOL"]

RIGHT = ["pools()", "pools(spare=1)", 'pools(order="newest first")', 'pools(order="set")']
WRONG = [
    'pools("idle", windows=[5])',
    'pools("idle", sequences=[3])',
    'pools("idle", sequences=[2])',
    'pools("idle lost")',
    'pools("idle lost", sequences=[3])',
    'pools("one short")',
    'pools("one more")',
    'pools("mixed")',
    'pools("full", sequences=[3])',
]


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    groups: Sequence[str] = ("a", "ab", "abc"),
    room: int = 0,
    comes_back: bool = True,
    holds: Callable[[Any, list[Any]], bool] = lambda row, right: set(row) == set(right),
    forgives: bool = False,
) -> Callable[[Any], None]:
    """Make a test: a chunk for each sequence in turn, then single tokens, in exactly the slots."""

    def test(cache_class: Any) -> None:
        for window in windows:
            n = window + 2
            for names in groups:
                pool = cache_class(window, (len(names) - 1) * window + n + room)
                texts: dict[str, list[str]] = {name: [] for name in names}
                work = [(name, n) for name in names]
                for name, count in work + [(name, 1) for name in names * 3 * comes_back]:
                    _one(pool, window, name, texts[name], count)

    def _one(pool: Any, window: int, name: str, text: list[str], count: int) -> None:
        new = [f"{name}{len(text) + n}" for n in range(count)]
        try:
            rows = pool.step({name: new})[name]
        except RuntimeError:
            if forgives:
                return
            raise
        for token, row in zip(new, rows, strict=True):
            text.append(token)
            if not holds(row, text[-window:]):
                raise AssertionError

    return test


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    pool = cache_class(4, 10)
    pool.step({"a": ["x"]})
    if len(pool.held["a"]) != 1:
        raise AssertionError


def _raises(cache_class: Any) -> None:
    usual()(cache_class)
    pool = cache_class(4, 10)
    pool.step({"a": list(range(10))})
    try:
        pool.step({"a": list(range(7))})  # with three older tokens in place of four it fits
    except RuntimeError:
        return
    raise AssertionError


Life = Sequence[Mapping[str, int]]


def _mend_case(window: int, slots: int, life: Life) -> Case:
    line = f"p = MendedPool({window}, {slots}); works = {list(life)}"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        texts: dict[str, int] = {}
        for number, work in enumerate(space["works"], 1):
            new = {k: [f"{k}{texts.get(k, 0) + i}" for i in range(n)] for k, n in work.items()}
            label = f"step {number}"
            try:
                rows = space["p"].step(new)
            except RuntimeError:
                shown[label] = "RuntimeError"
                continue
            for name, n in work.items():
                texts[name] = texts.get(name, 0) + n
                for token, row in zip(new[name], rows[name], strict=True):
                    shown[f"{label}, row of {token}"] = sorted(row, key=lambda t: int(t[1:]))
        return shown

    return line_case(line, "MendedPool", look)


LIVES: tuple[tuple[int, int, Life], ...] = (
    (4, 10, [{"a": 6}, {"b": 6}, {"a": 1}, {"b": 1}]),
    (4, 10, [{"a": 5}, {"a": 9}, {"a": 2}, {"a": 1, "b": 1}]),
    (3, 8, [{"a": 9}, {"a": 8}, {"a": 1}, {"b": 2}]),
    (2, 9, [{"a": 5, "b": 4}, {"c": 5}, {"a": 1, "c": 2}, {"b": 3}]),
    (1, 4, [{"a": 4}, {"b": 3}, {"a": 2}, {"a": 1, "b": 1}]),
)


def _cases(rng: Random) -> list[Case]:
    window, n = rng.choice([3, 5]), rng.randrange(6, 9)
    drawn = (window, window + n, [{"a": n}, {"b": n}, {"b": n + 1}, {"b": 1}, {"a": n}])
    mends = [_mend_case(*life) for life in (*LIVES, drawn)]
    return try_cases("catches_pool", "Pool", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_pool", "MendedPool")

POOL = Exercise(
    id="cf8-pool",
    names=("catches_pool", "MendedPool"),
    cases=_cases,
    reference=answers(catches_pool=usual(), MendedPool=Mended),
    mutants=(
        *usual_mutants("catches_pool", Pool, usual),
        _test(
            "one-sequence",
            "one sequence is tried: it never waits",
            usual(groups=["a"]),
        ),
        _test(
            "two-sequences",
            "two sequences are tried: with three it may go wrong",
            usual(groups=["a", "ab"]),
        ),
        _test(
            "room-to-spare",
            "there are more slots than needed: nothing is ever refused",
            usual(room=20),
        ),
        _test(
            "one-to-spare",
            "there is one slot more than needed: a step that fits exactly must go through, too",
            usual(room=1),
        ),
        _test(
            "nobody-comes-back",
            "those that waited take no more tokens: whether they still have a window is not asked",
            usual(comes_back=False),
        ),
        _test(
            "rows-not-asked",
            "what the tokens see is not asked",
            usual(holds=lambda row, right: True),
        ),
        _test(
            "error-caught",
            "the error is caught and forgotten: it is what this bug shows",
            usual(forgives=True),
        ),
        _test(
            "must-raise",
            "a step is asked to be refused that a right cache may have room for: it may hold fewer "
            "than W",
            _raises,
        ),
        _test(
            "order",
            "an order of tokens in a row is asked for: it may be any",
            usual(holds=lambda row, right: list(row) == right),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", Pool),
        _mend(
            "emptied",
            "those that wait lose all their tokens, not just what has left the window",
            Emptied,
        ),
        _mend(
            "waiting-alone",
            "those that wait are cut, and those that work are not",
            WaitingAlone,
        ),
        _mend(
            "refuses-nothing",
            "nothing is refused any more: the slots are as many as there are",
            NeverRefuses,
        ),
        _mend(
            "not-exactly",
            "a step that fits exactly is refused",
            NotExactly,
        ),
        _mend(
            "new-alone",
            "only new tokens are counted: what is held takes slots, too",
            NewAlone,
        ),
        _mend(
            "too-few",
            "too few tokens are left: the next one needs the last W - 1",
            TooFew,
        ),
        _mend(
            "stores-first",
            "a step that is refused has stored its tokens: it must change nothing",
            StoresFirst,
        ),
    ),
)
