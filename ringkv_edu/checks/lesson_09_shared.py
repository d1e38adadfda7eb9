"""Lesson 09: a token written through a block table, into pages that others may read."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given_beyond import Pool, tokens_of
from .lesson_09_common import line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["SHARED"]

Table = dict[int, int]
Step = Callable[[Pool, Table, int], Any]  # pool, table, block


def write_page(pool: Pool, table: Table, position: int, token: Any) -> None:
    """Write a token; a page that others read is copied first."""
    _write(pool, table, position, token)


def _take(pool: Pool, table: Table, block: int) -> None:
    table[block] = pool.free_page()
    pool.owners[table[block]] = 1


def _copy(pool: Pool, table: Table, block: int) -> None:
    old, new = table[block], pool.free_page()
    pool.pages[new] = list(pool.pages[old])
    pool.owners[old] -= 1
    pool.owners[new] = 1
    table[block] = new


def _shared(pool: Pool, table: Table, block: int) -> bool:
    return pool.owners[table[block]] > 1


def _write(
    pool: Pool,
    table: Table,
    position: int,
    token: Any,
    take: Step = _take,
    copy: Step = _copy,
    shared: Step = _shared,
    place: Callable[[int, int], int] = lambda position, size: position % size,
) -> None:
    block = position // pool.size
    if block not in table:
        take(pool, table, block)
    elif shared(pool, table, block):
        copy(pool, table, block)
    pool.pages[table[block]][place(position, pool.size)] = token


def _with(**parts: Any) -> dict[str, Any]:
    return answers(write_page=lambda *one: _write(*one, **parts))


def _take_uncounted(pool: Pool, table: Table, block: int) -> None:
    table[block] = pool.free_page()


def _count_kept(pool: Pool, table: Table, block: int) -> None:
    old = table[block]
    _copy(pool, table, block)
    pool.owners[old] += 1


def _let_go(pool: Pool, table: Table, block: int) -> None:
    old = table[block]
    _copy(pool, table, block)
    pool.owners[old] = 0


def _copy_uncounted(pool: Pool, table: Table, block: int) -> None:
    _copy(pool, table, block)
    pool.owners[table[block]] = 0


def _same_list(pool: Pool, table: Table, block: int) -> None:
    old = table[block]
    _copy(pool, table, block)
    pool.pages[table[block]] = pool.pages[old]


def _nothing_copied(pool: Pool, table: Table, block: int) -> None:
    _copy(pool, table, block)
    pool.pages[table[block]] = [None] * pool.size


def _count_carried(pool: Pool, table: Table, block: int) -> None:
    old, owners = table[block], pool.owners[table[block]]
    _copy(pool, table, block)
    pool.owners[table[block]] = owners
    pool.owners[old] = owners - 1


def _written_first(pool: Pool, table: Table, position: int, token: Any) -> None:
    block, at = divmod(position, pool.size)
    if block in table:
        pool.pages[table[block]][at] = token
    write_page(pool, table, position, token)


def _table_not_changed(pool: Pool, table: Table, position: int, token: Any) -> None:
    block = position // pool.size
    old = table.get(block)
    write_page(pool, table, position, token)
    if old is not None:
        table[block] = old


def _every_block_copied(pool: Pool, table: Table, position: int, token: Any) -> None:
    for block in list(table):
        if _shared(pool, table, block):
            _copy(pool, table, block)
    write_page(pool, table, position, token)


def _page_for_each_token(pool: Pool, table: Table, position: int, token: Any) -> None:
    table.pop(position // pool.size, None)
    write_page(pool, table, position, token)


def _shared_cases(rng: Random) -> list[Case]:
    written = "pool = Pool(9, {size}); a = {{}}; [write_page(pool, a, t, t) for t in range({n})]"
    size, n = rng.randrange(3, 6), rng.randrange(4, 8)
    n += n % size == 0
    lines = [
        (written.format(size=4, n=1), {"a": 1}),
        (written.format(size=4, n=9), {"a": 9}),
        (
            f"{written.format(size=4, n=6)}; b = fork(pool, a); write_page(pool, b, 6, 60)",
            dict(a=6, b=7),
        ),
        (
            f"{written.format(size=4, n=6)}; b = fork(pool, a); write_page(pool, b, 6, 60); "
            "write_page(pool, a, 6, 70); write_page(pool, b, 7, 61)",
            {"a": 7, "b": 8},
        ),
        (
            f"{written.format(size=4, n=4)}; b = fork(pool, a); write_page(pool, b, 4, 40)",
            dict(a=4, b=5),
        ),
        (
            f"{written.format(size=4, n=6)}; b = fork(pool, a); write_page(pool, b, 5, 50)",
            dict(a=6, b=6),
        ),
        (
            f"{written.format(size=2, n=5)}; b = fork(pool, a); c = fork(pool, b); "
            "write_page(pool, c, 5, 50); write_page(pool, b, 5, 51)",
            {"a": 5, "b": 6, "c": 6},
        ),
        (
            f"{written.format(size=size, n=n)}; b = fork(pool, a); write_page(pool, a, {n}, -1); "
            f"[write_page(pool, b, t, 10 * t) for t in range({n}, {n + 4})]",
            {"a": n + 1, "b": n + 4},
        ),
    ]
    return [_case(line, seen) for line, seen in lines]


def _case(line: str, seen: dict[str, int]) -> Case:
    head, fork, tail = line.partition("; b = fork")
    marked = f"{head}; before = dict(a){fork}{tail}"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        pool = space["pool"]
        found: dict[str, Any] = {}
        for name, n in seen.items():
            table, before = space[name], space["before"]
            moved = [block for block in before if table.get(block) != before[block]]
            users = [pool.owners[table[block]] for block in sorted(table)]
            found |= {f"tokens of {name}": tokens_of(pool, table, n)}
            found |= {f"owners of {name}'s pages": users}
            if fork:
                found |= {f"blocks of {name} on another page than before": moved}
        return {**found, "pages that nobody owns": pool.owners.count(0)}

    return line_case(marked, "write_page", look, may_change=(0, 1))


SHARED = Exercise(
    id="by2-shared",
    names=("write_page",),
    cases=_shared_cases,
    reference=answers(write_page),
    mutants=(
        Mutant(
            "overwritten",
            "a page is written though others read it: they read your token as theirs",
            _with(shared=lambda pool, table, block: False),
        ),
        Mutant(
            "written-first",
            "the token is written before the page is copied: whoever has a token there reads yours",
            answers(write_page=_written_first),
        ),
        Mutant(
            "same-list",
            "both pages are one and the same list: copy what is on it, `list(page)`",
            _with(copy=_same_list),
        ),
        Mutant(
            "nothing-copied",
            "the new page does not get what was on the old one: the block loses its earlier tokens",
            _with(copy=_nothing_copied),
        ),
        Mutant(
            "count-kept",
            "the old page keeps its count: it has one owner less, and is never free again",
            _with(copy=_count_kept),
        ),
        Mutant(
            "let-go",
            "the old page is given back though others still own it: the next one to ask gets it",
            _with(copy=_let_go),
        ),
        Mutant(
            "copy-uncounted",
            "the copy has no owner: the next one to ask for a page gets it, too",
            _with(copy=_copy_uncounted),
        ),
        Mutant(
            "count-carried",
            "the copy takes over the old page's count: it has one owner",
            _with(copy=_count_carried),
        ),
        Mutant(
            "take-uncounted",
            "a page that was taken has no owner: the next one to ask gets the same",
            _with(take=_take_uncounted),
        ),
        Mutant(
            "copies-alone",
            "a page is copied though nobody else owns it: write on it",
            _with(shared=lambda pool, table, block: True),
        ),
        Mutant(
            "two-are-none",
            "a page of two owners is taken for one's own: more than one is shared",
            _with(shared=lambda pool, table, block: pool.owners[table[block]] > 2),
        ),
        Mutant(
            "every-block",
            "every shared page of the table is copied: only the one that is written has to be",
            answers(write_page=_every_block_copied),
        ),
        Mutant(
            "table-not-changed",
            "the table still names the old page: what was written is not found through it",
            answers(write_page=_table_not_changed),
        ),
        Mutant(
            "page-for-each-token",
            "every token takes a page of its own: a block that is in the table has one",
            answers(write_page=_page_for_each_token),
        ),
        Mutant(
            "position-as-place",
            "the position is taken for the place on the page: places go from 0 to size - 1",
            _with(place=lambda position, size: position),
        ),
    ),
)
