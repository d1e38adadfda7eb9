"""Lesson 09's case file: positions past a page table (after tenstorrent/tt-metal#45193)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from .lesson_09_common import line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["TABLE"]

Table = Sequence[int]
Where = tuple[int, int]


def place_of(table: Table, entries: int, size: int, position: int) -> Where:
    """Give the page and the place on it of a position, going round the table's entries."""
    return table[position // size % entries], position % size


def as_reported(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size], position % size


def clamped(table: Table, entries: int, size: int, position: int) -> Where:
    return table[min(position // size, entries - 1)], position % size


def padding_counted(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size % len(table)], position % size


def position_as_block(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position % entries], position % size


def place_by_entries(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size % entries], position % entries


def page_modulo(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size] % entries, position % size


def no_table(table: Table, entries: int, size: int, position: int) -> Where:
    return position // size % entries, position % size


def first_for_padding(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size] or table[0], position % size


def zero_is_padding(table: Table, entries: int, size: int, position: int) -> Where:
    own = [page for page in table if page] or [0]
    return own[position // size % len(own)], position % size


def one_entry_less(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size % max(1, entries - 1)], position % size


def one_entry_more(table: Table, entries: int, size: int, position: int) -> Where:
    return table[position // size % (entries + 1)], position % size


def refused(table: Table, entries: int, size: int, position: int) -> Where:
    if position >= entries * size:
        raise IndexError("no page for this position")
    return table[position // size], position % size


def _table_cases(rng: Random) -> list[Case]:
    """Draw (table, entries, size, window, tokens)."""
    asked: list[tuple[list[int], int, int, int, int]] = [
        ([3, 1, 0, 0, 0], 2, 4, 8, 5), ([3, 1, 0, 0, 0], 2, 4, 8, 10),
        ([5, 2, 7, 0, 0], 3, 2, 5, 9), ([2, 0, 4, 0, 0, 0], 3, 3, 8, 16),
        ([6, 0, 0, 0], 1, 4, 4, 14), ([4, 9, 5, 0, 0, 0], 3, 4, 7, 23),
        ([7, 3, 0, 0, 0, 0, 0], 2, 3, 6, 20), ([3, 1, 0], 2, 2, 4, 9),
    ]  # fmt: skip
    entries, size = rng.randrange(2, 5), rng.randrange(2, 6)
    own = rng.sample(range(2, 20), entries)
    own[rng.randrange(1, entries)] = 1
    table = own + [0] * (entries + 3)
    tokens = size * (entries + rng.randrange(1, entries + 2)) + 1
    asked.append((table, entries, size, entries * size - 1, tokens))
    return [_case(*one) for one in asked]


def _case(table: list[int], entries: int, size: int, window: int, tokens: int) -> Case:
    line = f"out = serve(place_of, {table}, {entries}, {size}, {window}, {tokens})"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        reads, foreign = space["out"]
        return {"what the newest token reads": reads, "others' pages written": foreign}

    return line_case(line, "place_of", look)


TABLE = Exercise(
    id="case09-table",
    names=("place_of",),
    cases=_table_cases,
    reference=answers(place_of),
    mutants=(
        Mutant(
            "as-reported",
            "a position past the entries meets the padding: that names page 0, which is somebody "
            "else's",
            answers(place_of=as_reported),
        ),
        Mutant(
            "clamped",
            "every later block lies on the last entry's page: it is overwritten while the window "
            "still sees what was there",
            answers(place_of=clamped),
        ),
        Mutant(
            "padding-counted",
            "the padding is counted as entries: go round `entries`, not the table's length",
            answers(place_of=padding_counted),
        ),
        Mutant(
            "position-as-block",
            "the position is taken for the block: divide by `size` before you go round",
            answers(place_of=position_as_block),
        ),
        Mutant(
            "place-by-entries",
            "the place on the page goes round `entries`: a page has `size` places",
            answers(place_of=place_by_entries),
        ),
        Mutant(
            "page-modulo",
            "the page's number goes round: it is the block's that does, before the table is asked",
            answers(place_of=page_modulo),
        ),
        Mutant(
            "no-table",
            "the block is taken for the page: the table says which page holds a block",
            answers(place_of=no_table),
        ),
        Mutant(
            "first-for-padding",
            "every zero is sent to the first page: many blocks then share it",
            answers(place_of=first_for_padding),
        ),
        Mutant(
            "zero-is-padding",
            "page 0 is taken for padding: here it is one of the user's own. `entries` says where "
            "the padding begins",
            answers(place_of=zero_is_padding),
        ),
        Mutant(
            "one-entry-less",
            "one entry less is used: the last page is never written, and the window does not fit",
            answers(place_of=one_entry_less),
        ),
        Mutant(
            "one-entry-more",
            "one entry more is used: it is padding",
            answers(place_of=one_entry_more),
        ),
        Mutant(
            "refused",
            "a position past the entries raises an error: a window goes on for ever, on the same "
            "pages",
            answers(place_of=refused),
        ),
    ),
)
