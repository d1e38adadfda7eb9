"""Lesson 10, case 6: padding takes slots (after ml-explore/mlx-lm#439)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from ..given_cases import PaddedRing
from .lesson_10_common import ALL_WINDOWS, line_case, mistakes_in, try_cases, usual_mutants
from .lesson_10_pads_mistakes import (
    Columns,
    Dropped,
    LongestRow,
    Mended,
    OneList,
    SeesOld,
    Together,
    Unpadded,
)
from .model import Case, Exercise, answers

__all__ = ["PADS"]

LIFE = ("xxxxxxx xxx.... ....xxx", "x. .x xx", "..x x.. .x.", ".xx xx. xx.", "xxx xxx xxx")
RIGHT = [
    "padded()",
    'padded(order="newest first")',
    'padded(order="as slots")',
    'padded(order="set")',
]
WRONG = [
    'padded("evicts", windows=[5])',
    'padded("evicts", rows=[1])',
    'padded("evicts", rows=[2])',
    'padded("evicts", sides=["left"], starts=range(1, 99))',
    'padded("evicts", sides=["right"])',
    'padded("evicts", starts=range(1, 99))',
    'padded("seen")',
    'padded("mixed")',
    'padded("sees", sides=["right"])',
    'padded("short")',
]
Seen = list[list[set[Any]]]


def _same(out: Any, right: Seen) -> bool:
    return [[set(seen) for seen in row] for row in out] == right


def usual(
    windows: Iterable[int] = ALL_WINDOWS,
    life: Sequence[str] = LIFE,
    holds: Callable[[Any, Seen], bool] = _same,
) -> Callable[[Any], None]:
    """Make a test. In ``life`` each text is a chunk, its words are rows: x a token, . padding."""

    def test(cache_class: Any) -> None:
        for window in windows:
            texts: list[list[Any]] = [[] for _ in life[0].split()]
            cache = cache_class(window, len(texts))
            for marks in life:
                chunk: list[list[Any]] = []
                right: Seen = []
                for row, (text, places) in enumerate(zip(texts, marks.split(), strict=True)):
                    chunk.append([])
                    right.append([])
                    for mark in places:
                        text += [100 * row + len(text)] if mark == "x" else []
                        chunk[-1].append(text[-1] if mark == "x" else None)
                        right[-1].append(set(text[-window:]) if mark == "x" else set())
                if not holds(cache.step(chunk), right):
                    raise AssertionError

    return test


def _fields(cache_class: Any) -> None:
    usual()(cache_class)
    if len(cache_class(4, 3).slots) != 3:
        raise AssertionError


def _in_order(out: Any, right: Seen) -> bool:
    return [[list(seen) for seen in row] for row in out] == [[sorted(s) for s in r] for r in right]


def _first_row(out: Any, right: Seen) -> bool:
    return [set(seen) for seen in out[0]] == right[0]


def _last_place(out: Any, right: Seen) -> bool:
    return [set(row[-1]) for row in out] == [row[-1] for row in right]


def _no_padding(out: Any, right: Seen) -> bool:
    return not any(None in seen for row in out for seen in row)


def _mend_case(window: int, life: str) -> Case:
    chunks = [
        [[None if t == "." else t for t in row] for row in chunk.split()]
        for chunk in life.split("|")
    ]
    line = f"c = MendedPads({window}, {len(chunks[0])}); outs = [c.step(x) for x in {chunks}]"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        shown = {}
        for number, out in enumerate(space["outs"], 1):
            for row, seen in enumerate(out):
                for place, one in enumerate(seen):
                    label = f"row {row}, place {place} of chunk {number}"
                    shown[label] = sorted(one, key=lambda t: (t is not None, t or ""))
        return shown

    return line_case(line, "MendedPads", look)


LIVES = (
    (4, "abc... ...efg|d h"),
    (4, "abcdef .....x|g y|.h z.|i w"),
    (1, "a. .p|b q"),
    (2, "ab pq|.c r.|d s"),
    (3, "abcdefg pqr.... ..uv...|. s w|h t x"),
)


def _cases(rng: Random) -> list[Case]:
    real, pads = rng.randrange(2, 5), rng.randrange(2, 5)
    drawn = "abcdefgh"[: real + pads] + " " + "pqrs"[:real] + "." * pads + "|x y|z w"
    lives = [*LIVES, (rng.choice([3, 5]), drawn)]
    mends = [_mend_case(*life) for life in lives]
    return try_cases("catches_pads", "PaddedRing", RIGHT, WRONG) + mends


_test, _mend = mistakes_in("catches_pads", "MendedPads")

PADS = Exercise(
    id="cf6-pads",
    names=("catches_pads", "MendedPads"),
    cases=_cases,
    reference=answers(catches_pads=usual(), MendedPads=Mended),
    mutants=(
        *usual_mutants("catches_pads", PaddedRing, usual),
        _test(
            "first-left-alone",
            "there is no padding but on the left of the first chunk: it is overwritten first, and "
            "does no harm",
            usual(life=("xxxxxxx ....xxx .....xx", "x x x", "xxx xxx xxx", "xx xx xx")),
        ),
        _test(
            "right-alone",
            "there is padding on the right alone: in a later chunk it may stand on the left",
            usual(life=("xxxxxxx xxx.... xx.....", "x. xx xx", "x.. x.. xxx", "xxx xxx xxx")),
        ),
        _test(
            "one-chunk",
            "nothing comes after the first chunk: what padding pushed out is missed later",
            usual(life=("xxxxxxx xxx.... ....xxx",)),
        ),
        _test(
            "first-chunk-padded",
            "only the first chunk has padding: later ones have it, too",
            usual(life=("xxxxxxx xxx.... xx.....", "xx xx xx", "xxx xxx xxx")),
        ),
        _test("first-row", "the first row is looked at alone", usual(holds=_first_row)),
        _test(
            "two-rows",
            "two rows are tried: a third may be what is wrong",
            usual(life=("xxxxxxx xxx....", "x. .x", "..x x..", ".xx xx.", "xxx xxx")),
        ),
        _test(
            "no-none-seen",
            "it is asked that padding is not seen, and nothing else: tokens may be missing",
            usual(holds=_no_padding),
        ),
        _test(
            "at-most",
            "it is asked that nothing foreign is seen: something may be missing",
            usual(
                holds=lambda out, right: all(
                    set(seen) <= want
                    for row, wants in zip(out, right, strict=True)
                    for seen, want in zip(row, wants, strict=True)
                )
            ),
        ),
        _test(
            "order",
            "an order of tokens is asked for: it may be any",
            usual(holds=_in_order),
        ),
        _test("fields", "a field is read: right caches have others", _fields),
        _mend("as-reported", "the class is as it was reported", PaddedRing),
        _mend(
            "columns",
            "padding is not stored, and the cursor of all rows moves on: a row's tokens lie "
            "apart, and old ones stay among them",
            Columns,
        ),
        _mend(
            "together",
            "a column with padding in it moves no cursor: the other rows overwrite their newest",
            Together,
        ),
        _mend(
            "dropped",
            "places of padding are left out of what is given: they see nothing, in their place",
            Dropped,
        ),
        _mend(
            "padding-sees",
            "padding is given what the row holds: it sees nothing",
            Unpadded,
        ),
        _mend("one-list", "all rows share one list: they see each other's tokens", OneList),
        _mend(
            "longest-row",
            "all rows take the cursor of the row that has most tokens",
            LongestRow,
        ),
        _mend(
            "never-evicts",
            "nothing is overwritten any more: a row sees tokens that have left its window",
            SeesOld,
        ),
    ),
)
