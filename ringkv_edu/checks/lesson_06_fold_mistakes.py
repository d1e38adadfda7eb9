"""Lesson 06: right and wrong ways to fold a vector into a bank of means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_summaries import Bank
from .model import answers

Array = npt.NDArray[Any]
Grow = Callable[[Array, int, Array], Array]  # a mean, its count before, a vector
Join = Callable[[Array, int, Array, int], Array]  # two means, each with its count


def running(mean: Array, count: int, vector: Array) -> Array:
    return np.asarray((mean * count + vector) / (count + 1))


def weighted(a: Array, n: int, b: Array, m: int) -> Array:
    return np.asarray((a * n + b * m) / (n + m))


def begin(bank: Bank, vector: Array) -> None:
    bank.means.append(vector.copy())
    bank.counts.append(1)


def merge_first(bank: Bank, join: Join = weighted, at: int = 0) -> None:
    """Merge summary ``at`` with the next one."""
    (n, m), (a, b) = bank.counts[at : at + 2], bank.means[at : at + 2]
    bank.means[at : at + 2], bank.counts[at : at + 2] = [join(a, n, b, m)], [n + m]


def grow_last(bank: Bank, vector: Array, grow: Grow = running) -> None:
    bank.means[-1] = grow(bank.means[-1], bank.counts[-1], vector)
    bank.counts[-1] += 1


def folding(
    grow: Grow = running,
    merge: Callable[[Bank], None] = merge_first,
    begin: Callable[[Bank, Array], None] = begin,
    room: Callable[[Bank], bool] = lambda bank: bank.counts[-1] < bank.block,
    full: Callable[[Bank], bool] = lambda bank: len(bank.counts) >= bank.slots,
) -> Callable[[Bank, Array], None]:
    """Make a fold from its parts: ``room`` is asked first, then ``full``."""

    def fold(bank: Bank, vector: Array) -> None:
        if bank.counts and room(bank):
            grow_last(bank, vector, grow)
            return
        if full(bank):
            merge(bank)
        begin(bank, vector)

    return fold


def fold(bank: Bank, vector: Array) -> None:
    """Fold one vector into the bank: the last summary grows, a new one begins, or two merge."""
    folding()(bank, vector)


def changed(**parts: Any) -> dict[str, Any]:
    return answers(fold=folding(**parts))


def count_lost(bank: Bank) -> None:
    count = bank.counts[0]
    merge_first(bank)
    bank.counts[0] = count


def drop_oldest(bank: Bank) -> None:
    del bank.means[0], bank.counts[0]


def second_left(bank: Bank) -> None:
    second = bank.means[1], bank.counts[1]
    merge_first(bank)
    bank.means.insert(1, second[0])
    bank.counts.insert(1, second[1])


def merged_last(bank: Bank) -> None:
    merge_first(bank)
    bank.means.append(bank.means.pop(0))
    bank.counts.append(bank.counts.pop(0))


def as_blocks(bank: Bank) -> None:
    merge_first(bank)
    bank.counts[0] = 2 * bank.block


def vector_lost(bank: Bank, vector: Array) -> None:
    if len(bank.counts) == bank.slots and bank.counts[-1] >= bank.block:
        merge_first(bank)
    else:
        fold(bank, vector)


def of_none(bank: Bank, vector: Array) -> None:
    if bank.counts[-1] < bank.block:
        grow_last(bank, vector)
    else:
        fold(bank, vector)


def count_kept(bank: Bank, vector: Array) -> None:
    before = list(bank.counts)
    fold(bank, vector)
    if len(bank.counts) == len(before) and bank.counts[:-1] == before[:-1]:
        bank.counts[-1] = before[-1]


def merge_newest(bank: Bank) -> None:
    merge_first(bank, at=len(bank.counts) - 2)


def merge_least(bank: Bank) -> None:
    totals = [a + b for a, b in zip(bank.counts, bank.counts[1:], strict=False)]
    merge_first(bank, at=totals.index(min(totals)))


def counts_first(bank: Bank) -> None:
    """Add the counts before the means are weighted by them."""
    merge_first(bank, lambda a, n, b, m: weighted(a, n + m, b, m))


def into_the_merged(bank: Bank, vector: Array) -> None:
    """Put the vector into the merged summary, so that no new one begins."""
    if bank.counts and bank.counts[-1] < bank.block:
        grow_last(bank, vector)
    elif len(bank.counts) < bank.slots:
        begin(bank, vector)
    else:
        merge_first(bank)
        bank.means[0] = running(bank.means[0], bank.counts[0], vector)
        bank.counts[0] += 1


def grows_on(bank: Bank, vector: Array) -> None:
    """Let the last summary grow for ever once all are taken."""
    if bank.counts and (bank.counts[-1] < bank.block or len(bank.counts) == bank.slots):
        grow_last(bank, vector)
    else:
        begin(bank, vector)


def by_reference(bank: Bank, vector: Array) -> None:
    bank.means.append(vector)
    bank.counts.append(1)


def counted_as_none(bank: Bank, vector: Array) -> None:
    bank.means.append(vector.copy())
    bank.counts.append(0)


def counted_as_block(bank: Bank, vector: Array) -> None:
    bank.means.append(vector.copy())
    bank.counts.append(bank.block)


def in_place(bank: Bank, vector: Array) -> None:
    """Use the caller's vector as scratch."""
    if bank.counts and bank.counts[-1] < bank.block:
        vector += bank.means[-1] * bank.counts[-1]
        bank.means[-1] = vector / (bank.counts[-1] + 1)
        bank.counts[-1] += 1
    else:
        fold(bank, vector)


def newest_first(bank: Bank, vector: Array) -> None:
    bank.means.reverse()
    bank.counts.reverse()
    fold(bank, vector)
    bank.means.reverse()
    bank.counts.reverse()


def merged_anyway(bank: Bank, vector: Array) -> None:
    """Merge whenever all are taken, though the last one still has room."""
    if len(bank.counts) == bank.slots:
        merge_first(bank)
    fold(bank, vector)
