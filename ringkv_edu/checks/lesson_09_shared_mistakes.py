"""Lesson 09: the write through a block table, and the ways to get it wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..given_beyond import Pool
from .model import answers

__all__ = [
    "copy_uncounted",
    "count_carried",
    "count_kept",
    "every_block_copied",
    "let_go",
    "nothing_copied",
    "page_for_each_token",
    "same_list",
    "table_not_changed",
    "take_uncounted",
    "with_parts",
    "write_page",
    "written_first",
]

Table = dict[int, int]
Step = Callable[[Pool, Table, int], Any]  # pool, table, block


def write_page(pool: Pool, table: Table, position: int, token: Any) -> None:
    """Write a token; a page that others read is copied first."""
    write_with(pool, table, position, token)


def take_page(pool: Pool, table: Table, block: int) -> None:
    """Begin a block on a free page."""
    table[block] = pool.free_page()
    pool.owners[table[block]] = 1


def copy_page(pool: Pool, table: Table, block: int) -> None:
    """Give the table its own copy of a shared page."""
    old, new = table[block], pool.free_page()
    pool.pages[new] = list(pool.pages[old])
    pool.owners[old] -= 1
    pool.owners[new] = 1
    table[block] = new


def is_shared(pool: Pool, table: Table, block: int) -> bool:
    """Say whether others read the page, too."""
    return pool.owners[table[block]] > 1


def write_with(
    pool: Pool,
    table: Table,
    position: int,
    token: Any,
    take: Step = take_page,
    copy: Step = copy_page,
    shared: Step = is_shared,
    place: Callable[[int, int], int] = lambda position, size: position % size,
) -> None:
    """Write, with some steps replaced."""
    block = position // pool.size
    if block not in table:
        take(pool, table, block)
    elif shared(pool, table, block):
        copy(pool, table, block)
    pool.pages[table[block]][place(position, pool.size)] = token


def with_parts(**parts: Any) -> dict[str, Any]:
    """Give an answer with some steps replaced."""
    return answers(write_page=lambda *one: write_with(*one, **parts))


def take_uncounted(pool: Pool, table: Table, block: int) -> None:
    """Take a page and count no owner."""
    table[block] = pool.free_page()


def count_kept(pool: Pool, table: Table, block: int) -> None:
    """Copy, and leave the old count."""
    old = table[block]
    copy_page(pool, table, block)
    pool.owners[old] += 1


def let_go(pool: Pool, table: Table, block: int) -> None:
    """Copy, and count nobody on the old page."""
    old = table[block]
    copy_page(pool, table, block)
    pool.owners[old] = 0


def copy_uncounted(pool: Pool, table: Table, block: int) -> None:
    """Copy, and count nobody on the new page."""
    copy_page(pool, table, block)
    pool.owners[table[block]] = 0


def same_list(pool: Pool, table: Table, block: int) -> None:
    """Share the list in place of copying it."""
    old = table[block]
    copy_page(pool, table, block)
    pool.pages[table[block]] = pool.pages[old]


def nothing_copied(pool: Pool, table: Table, block: int) -> None:
    """Take a new page with nothing on it."""
    copy_page(pool, table, block)
    pool.pages[table[block]] = [None] * pool.size


def count_carried(pool: Pool, table: Table, block: int) -> None:
    """Carry the old page's count over."""
    old, owners = table[block], pool.owners[table[block]]
    copy_page(pool, table, block)
    pool.owners[table[block]] = owners
    pool.owners[old] = owners - 1


def written_first(pool: Pool, table: Table, position: int, token: Any) -> None:
    """Write before the page is copied."""
    block, at = divmod(position, pool.size)
    if block in table:
        pool.pages[table[block]][at] = token
    write_page(pool, table, position, token)


def table_not_changed(pool: Pool, table: Table, position: int, token: Any) -> None:
    """Copy, and leave the table."""
    block = position // pool.size
    old = table.get(block)
    write_page(pool, table, position, token)
    if old is not None:
        table[block] = old


def every_block_copied(pool: Pool, table: Table, position: int, token: Any) -> None:
    """Copy every shared block."""
    for block in list(table):
        if is_shared(pool, table, block):
            copy_page(pool, table, block)
    write_page(pool, table, position, token)


def page_for_each_token(pool: Pool, table: Table, position: int, token: Any) -> None:
    """Take a page for each token."""
    table.pop(position // pool.size, None)
    write_page(pool, table, position, token)
