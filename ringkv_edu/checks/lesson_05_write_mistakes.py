"""Lesson 05: writes of one token a row, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..given_torch import RingRows
from .model import answers

Tensor = torch.Tensor
PAST_THE_END = "the modulo is forgotten: the slot runs past the end of the ring"
COPIES = (
    "what is written goes into a copy: a tensor as an index, x[i], gives a copy; write with one "
    "assignment, x[i, :, j] = y"
)


def write_rows(rows: RingRows, k: Tensor, v: Tensor) -> None:
    """Write one token a row, each into the slot of its own row's cursor."""
    slot = rows.seen % rows.window
    _store(rows, slot, k, v)
    rows.positions[each(rows), slot] = rows.seen
    rows.seen += 1


def each(rows: RingRows) -> Tensor:
    return torch.arange(len(rows.seen))


def _store(rows: RingRows, slot: Tensor, k: Tensor, v: Tensor) -> None:
    rows.keys[each(rows), :, slot] = k
    rows.values[each(rows), :, slot] = v


def write_at(
    slot_of: Callable[[RingRows], Tensor] = lambda rows: rows.seen % rows.window,
    position_of: Callable[[RingRows, Tensor], Tensor] = lambda rows, slot: rows.seen,
    after: Callable[[RingRows], Any] = lambda rows: None,
) -> dict[str, Any]:
    """Make a mutant: another slot, another position, or something done afterwards."""

    def mutant(rows: RingRows, k: Tensor, v: Tensor) -> None:
        slot = slot_of(rows).expand(len(rows.seen))
        _store(rows, slot, k, v)
        rows.positions[each(rows), slot] = position_of(rows, slot)
        rows.seen += 1
        after(rows)

    return answers(write_rows=mutant)


def one_position(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = (rows.seen[:1] % rows.window).expand(len(rows.seen))
    _store(rows, slot, k, v)
    rows.positions[each(rows), slot] = rows.seen[0]
    rows.seen += 1


def scattered(slot_of: Callable[[RingRows], Tensor], positions_first: bool = False) -> Any:
    """Write with scatter_."""

    def mutant(rows: RingRows, k: Tensor, v: Tensor) -> None:
        slot = slot_of(rows)
        if positions_first:
            rows.positions.scatter_(1, slot[:, None], rows.seen[:, None])
        index = slot[:, None, None, None].expand(-1, k.shape[1], 1, k.shape[2])
        rows.keys.scatter_(2, index, k[:, :, None])
        rows.values.scatter_(2, index, v[:, :, None])
        rows.positions.scatter_(1, slot[:, None], rows.seen[:, None])
        rows.seen += 1

    return mutant


def index_not_expanded(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys.scatter_(2, slot[:, None, None, None], k[:, :, None])
    rows.values.scatter_(2, slot[:, None, None, None], v[:, :, None])
    rows.positions.scatter_(1, slot[:, None], rows.seen[:, None])
    rows.seen += 1


def shifting(rows: RingRows, k: Tensor, v: Tensor) -> None:
    """Keep tokens in order of time: move everything, and write into the last slot."""
    for memory, new in ((rows.keys, k), (rows.values, v)):
        memory.copy_(torch.cat([memory[:, :, 1:], new[:, :, None]], 2))
    rows.positions.copy_(torch.cat([rows.positions[:, 1:], rows.seen[:, None]], 1))
    rows.seen += 1


def crossed(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys[:, :, slot], rows.values[:, :, slot] = k[:, :, None], v[:, :, None]
    rows.positions[:, slot] = rows.seen[:, None]
    rows.seen += 1


def crossed_as_it_is(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys[:, :, slot] = k
    rows.values[:, :, slot] = v
    rows.positions[:, slot] = rows.seen
    rows.seen += 1


def crossed_positions(own: bool) -> Any:
    """Store keys and values well, and positions in every row's slots."""

    def mutant(rows: RingRows, k: Tensor, v: Tensor) -> None:
        slot = rows.seen % rows.window
        _store(rows, slot, k, v)
        rows.positions[:, slot] = rows.seen[:, None] if own else rows.seen
        rows.seen += 1

    return mutant


def slot_on_heads(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys[each(rows), slot] = k
    rows.values[each(rows), slot] = v
    rows.positions[each(rows), slot] = rows.seen
    rows.seen += 1


def into_copies(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys[each(rows), :, slot].copy_(k)
    rows.values[each(rows), :, slot].copy_(v)
    rows.positions[each(rows), slot].copy_(rows.seen)
    rows.seen += 1


def into_copies_of_rows(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys[each(rows), :, slot].copy_(k)
    rows.values[each(rows), :, slot].copy_(v)
    rows.positions[each(rows), slot] = rows.seen
    rows.seen += 1


def read_by_the_host(rows: RingRows, k: Tensor, v: Tensor) -> None:
    for row, seen in enumerate(rows.seen.tolist()):
        slot = seen % rows.window
        rows.keys[row, :, slot], rows.values[row, :, slot] = k[row], v[row]
        rows.positions[row, slot] = seen
    rows.seen += 1


def anew(rows: RingRows, k: Tensor, v: Tensor) -> None:
    write_rows(rows, k, v)
    rows.seen = rows.seen.clone()


def counted_first(rows: RingRows, k: Tensor, v: Tensor) -> None:
    rows.seen += 1
    slot = rows.seen % rows.window
    _store(rows, slot, k, v)
    rows.positions[each(rows), slot] = rows.seen


def first_row(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen[:1] % rows.window
    rows.keys[:1, :, slot], rows.values[:1, :, slot] = k[:1, :, None], v[:1, :, None]
    rows.positions[:1, slot] = rows.seen[:1]
    rows.seen[:1] += 1


def first_head(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    rows.keys[each(rows), 0, slot], rows.values[each(rows), 0, slot] = k[:, 0], v[:, 0]
    rows.positions[each(rows), slot] = rows.seen
    rows.seen += 1


def no_value(rows: RingRows, k: Tensor, v: Tensor) -> None:
    write_rows(rows, k, rows.values[each(rows), :, rows.seen % rows.window])


def adding(rows: RingRows, k: Tensor, v: Tensor) -> None:
    slot = rows.seen % rows.window
    old = rows.keys[each(rows), :, slot], rows.values[each(rows), :, slot]
    write_rows(rows, old[0] + k, old[1] + v)


def only_until_full(rows: RingRows, k: Tensor, v: Tensor) -> None:
    before = [x.clone() for x in (rows.keys, rows.values, rows.positions, rows.seen)]
    write_rows(rows, k, v)
    full = before[3] >= rows.window
    now = (rows.keys, rows.values, rows.positions, rows.seen)
    for memory, old in zip(now, before, strict=True):
        memory.copy_(torch.where(full.view(-1, *[1] * (memory.ndim - 1)), old, memory))


def uncount(rows: RingRows) -> None:
    rows.seen -= 1


def count_one_row(rows: RingRows) -> None:
    rows.seen[1:] -= 1


def wrap(rows: RingRows) -> None:
    rows.seen %= rows.window


def cap(rows: RingRows) -> None:
    rows.seen.clamp_(max=rows.window)


def no_position(rows: RingRows, k: Tensor, v: Tensor) -> None:
    _store(rows, rows.seen % rows.window, k, v)
    rows.seen += 1
