"""Lesson 09: a token written through a block table, into pages that others may read."""

from __future__ import annotations

from random import Random
from typing import Any

from ..given_beyond import tokens_of
from . import lesson_09_shared_mistakes as wrong
from .lesson_09_common import line_case
from .lesson_09_shared_mistakes import write_page
from .model import Case, Exercise, Mutant, answers

__all__ = ["SHARED"]


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
            wrong.with_parts(shared=lambda pool, table, block: False),
        ),
        Mutant(
            "written-first",
            "the token is written before the page is copied: whoever has a token there reads yours",
            answers(write_page=wrong.written_first),
        ),
        Mutant(
            "same-list",
            "both pages are one and the same list: copy what is on it, `list(page)`",
            wrong.with_parts(copy=wrong.same_list),
        ),
        Mutant(
            "nothing-copied",
            "the new page does not get what was on the old one: the block loses its earlier tokens",
            wrong.with_parts(copy=wrong.nothing_copied),
        ),
        Mutant(
            "count-kept",
            "the old page keeps its count: it has one owner less, and is never free again",
            wrong.with_parts(copy=wrong.count_kept),
        ),
        Mutant(
            "let-go",
            "the old page is given back though others still own it: the next one to ask gets it",
            wrong.with_parts(copy=wrong.let_go),
        ),
        Mutant(
            "copy-uncounted",
            "the copy has no owner: the next one to ask for a page gets it, too",
            wrong.with_parts(copy=wrong.copy_uncounted),
        ),
        Mutant(
            "count-carried",
            "the copy takes over the old page's count: it has one owner",
            wrong.with_parts(copy=wrong.count_carried),
        ),
        Mutant(
            "take-uncounted",
            "a page that was taken has no owner: the next one to ask gets the same",
            wrong.with_parts(take=wrong.take_uncounted),
        ),
        Mutant(
            "copies-alone",
            "a page is copied though nobody else owns it: write on it",
            wrong.with_parts(shared=lambda pool, table, block: True),
        ),
        Mutant(
            "two-are-none",
            "a page of two owners is taken for one's own: more than one is shared",
            wrong.with_parts(shared=lambda pool, table, block: pool.owners[table[block]] > 2),
        ),
        Mutant(
            "every-block",
            "every shared page of the table is copied: only the one that is written has to be",
            answers(write_page=wrong.every_block_copied),
        ),
        Mutant(
            "table-not-changed",
            "the table still names the old page: what was written is not found through it",
            answers(write_page=wrong.table_not_changed),
        ),
        Mutant(
            "page-for-each-token",
            "every token takes a page of its own: a block that is in the table has one",
            answers(write_page=wrong.page_for_each_token),
        ),
        Mutant(
            "position-as-place",
            "the position is taken for the place on the page: places go from 0 to size - 1",
            wrong.with_parts(place=lambda position, size: position),
        ),
    ),
)
