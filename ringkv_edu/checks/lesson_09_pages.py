"""Lesson 09: which blocks of a table go back to the pool, and how many pages a window needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from random import Random
from typing import Any

from .lesson_09_common import call_case, line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["PAGES"]

Table = Mapping[int, int]
Gone = Callable[[int, int, int, int], bool]  # block, position, window, size


def pages_needed(window: int, size: int) -> int:
    """Give the most pages in which the tokens of a window can lie."""
    return ceil((window - 1) / size) + 1


def leaving(table: Table, position: int, window: int, size: int) -> list[int]:
    """Give the blocks of which no query from ``position`` on sees a token."""
    return _leaving(table, position, window, size)


def _gone(block: int, position: int, window: int, size: int) -> bool:
    return (block + 1) * size <= position - window + 1


def _leaving(table: Table, position: int, window: int, size: int, gone: Gone = _gone) -> list[int]:
    return [block for block in table if gone(block, position, window, size)]


def _with_gone(gone: Gone) -> dict[str, Any]:
    return answers(leaving=lambda table, p, w, b: _leaving(table, p, w, b, gone))


def _with_needed(needed: Callable[[int, int], float]) -> dict[str, Any]:
    return answers(pages_needed=needed)


def _one_alone(table: Table, position: int, window: int, size: int) -> list[int]:
    return leaving(table, position, window, size)[:1]


def _by_number(table: Table, position: int, window: int, size: int) -> list[int]:
    return list(range(max(0, position - window + 1) // size))


def _as_pages(table: Table, position: int, window: int, size: int) -> list[int]:
    return [table[block] for block in leaving(table, position, window, size)]


def _newest(many: Callable[[int, int], int]) -> Gone:
    """Keep so many blocks, whatever the window still sees."""
    return lambda block, position, window, size: block <= position // size - many(window, size)


def _staying(table: Table, position: int, window: int, size: int) -> list[int]:
    return [block for block in table if not _gone(block, position, window, size)]


def _pages_cases(rng: Random) -> list[Case]:
    sizes = [(8, 4), (6, 4), (4, 4), (5, 4), (1, 4), (3, 1), (1, 1), (1024, 16), (2, 3)]
    sizes.append((rng.randrange(20, 90), rng.randrange(5, 17)))
    cases = [call_case(f"pages_needed({w}, {b})", "pages_needed") for w, b in sizes]
    asked: list[tuple[dict[int, int], int, int, int]] = [
        ({0: 3, 1: 1, 2: 7}, 8, 6, 4), ({0: 3, 1: 1, 2: 7}, 9, 6, 4), ({1: 1, 2: 7}, 10, 6, 4),
        ({0: 5}, 3, 4, 4), ({0: 5}, 4, 4, 4), ({0: 5, 1: 2}, 7, 4, 4), ({0: 5, 1: 2}, 6, 4, 4),
        ({0: 9, 1: 8, 2: 4, 3: 6}, 16, 6, 4), ({}, 0, 4, 4), ({2: 0, 3: 1}, 6, 3, 2),
        ({2: 0, 3: 1}, 7, 3, 2), ({5: 2, 6: 4, 7: 3}, 8, 2, 1),
    ]  # fmt: skip
    window, size = rng.randrange(5, 12), rng.randrange(2, 6)
    position = window + size * rng.randrange(3, 9)
    blocks = range(max(0, position // size - 6), position // size + 1)
    asked.append(({block: rng.randrange(40) for block in blocks}, position, window, size))
    return cases + [_leaving_case(*one) for one in asked]


def _leaving_case(table: dict[int, int], position: int, window: int, size: int) -> Case:
    def look(space: dict[str, Any]) -> dict[str, Any]:
        out = space["out"]
        return {"result": sorted(out) if isinstance(out, list | tuple | set | dict) else out}

    return line_case(f"out = leaving({table}, {position}, {window}, {size})", "leaving", look)


PAGES = Exercise(
    id="by1-pages",
    names=("pages_needed", "leaving"),
    cases=_pages_cases,
    reference=answers(pages_needed, leaving),
    mutants=(
        Mutant(
            "one-page-too-few",
            "W tokens are thought to begin where a page begins: they may lie across one page more "
            "than they fill",
            _with_needed(lambda window, size: ceil(window / size)),
        ),
        Mutant(
            "one-page-too-many",
            "a page is added to all that W tokens fill: the first page holds at least one of them, "
            "so it is the other W - 1 that are divided",
            _with_needed(lambda window, size: ceil(window / size) + 1),
        ),
        Mutant(
            "rounded-down",
            "W is divided and rounded down: it is W - 1 tokens that lie behind the first page's "
            "one, and a page filled in part counts",
            _with_needed(lambda window, size: window // size + 1),
        ),
        Mutant(
            "first-token",
            "a page goes back when its first token leaves: the others on it are still seen",
            _with_gone(lambda block, position, window, size: block * size < position - window + 1),
        ),
        Mutant(
            "one-late",
            "a page is kept one token too long: the query at t sees t - W + 1 and later ones, not "
            "t - W",
            _with_gone(
                lambda block, position, window, size: (block + 1) * size <= position - window
            ),
        ),
        Mutant(
            "one-early",
            "a page goes back one token too early: the query at t still sees t - W + 1",
            _with_gone(
                lambda block, position, window, size: (block + 1) * size <= position - window + 2
            ),
        ),
        Mutant(
            "pages-that-fill",
            "the newest ceil(W / b) blocks are kept and no other: where the window begins inside a "
            "page it lies in one more",
            _with_gone(_newest(lambda window, size: ceil(window / size))),
        ),
        Mutant(
            "pages-ever-needed",
            "as many blocks are kept as a window may ever need: at most places it lies in fewer, "
            "and the pool waits for that page",
            _with_gone(_newest(pages_needed)),
        ),
        Mutant(
            "one-alone",
            "one block is named where several go: a prompt that was written in one go leaves more "
            "than one behind",
            answers(leaving=_one_alone),
        ),
        Mutant(
            "not-in-the-table",
            "blocks are named that are not in the table any more: their pages went back before, "
            "and are somebody else's now",
            answers(leaving=_by_number),
        ),
        Mutant(
            "pages-named",
            "pages are named: give the blocks, which are the table's keys",
            answers(leaving=_as_pages),
        ),
        Mutant(
            "staying",
            "the blocks that stay are named: give those that leave",
            answers(leaving=_staying),
        ),
    ),
)
