"""Lesson 05: some rows start again, in place, while the others go on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch

from ..given_torch import RingRows
from .lesson_05_common import ANEW, HOST, kept_case, reads_case, torch_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["RESET"]

Tensor = torch.Tensor
EMPTY = {"keys": 0, "values": 0, "positions": -1, "seen": 0}


def start_again(rows: RingRows, done: Tensor) -> None:
    """Empty the rows where ``done`` (batch,) is True, in place."""
    for name, empty in EMPTY.items():
        memory = getattr(rows, name)
        memory.masked_fill_(_wide(done, memory), empty)


def _wide(done: Tensor, memory: Tensor) -> Tensor:
    return done.view(-1, *[1] * (memory.ndim - 1))


def _reset_cases(rng: Random) -> list[Case]:
    runs: list[tuple[list[int], list[bool], int, int]] = [
        ([10, 6, 3], [False, True, False], 4, 1), ([5, 9], [True, False], 3, 2),
        ([2, 7, 4, 1], [True, False, False, True], 3, 1), ([6, 8], [False, False], 4, 2),
        ([3, 5, 4], [True, True, True], 3, 1), ([0, 4], [True, False], 2, 1),
        ([9, 9, 9], [False, False, True], 3, 1),
    ]  # fmt: skip
    batch = rng.randrange(2, 5)
    seen, done = [rng.randrange(1, 15) for _ in range(batch)], [False] * batch
    done[rng.randrange(batch)] = True
    cases = [_reset_case(number, *run) for number, run in enumerate([*runs, (seen, done, 4, 2)])]
    made, done_now = 'filled_rows([6, 3], draw(1, "tr4"), 8)', "torch.tensor([True, False])"
    before = "before = [rows.keys, rows.values, rows.positions, rows.seen]"
    kept = kept_case(f"rows = {made}; {before}; start_again(rows, {done_now})", "start_again")
    return [*cases, kept, reads_case(f"start_again({made}, {done_now})", "start_again")]


def _reset_case(number: int, seen: list[int], done: list[bool], window: int, kv_heads: int) -> Case:
    made = f'rows = filled_rows({seen}, draw({number}, "tr4"), {window}, {kv_heads})'
    poison = ""
    if any(done) and seen[done.index(True)]:
        poison = f'; rows.values[{done.index(True)}, 0, 0] = float("nan")'
    line = f"{made}{poison}; start_again(rows, torch.tensor({done}))"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        rows = space["rows"]
        return {
            "seen": rows.seen,
            "positions": rows.positions,
            "keys": rows.keys,
            "values": rows.values,
        }

    return torch_case(line, "start_again", look, may_change=(0,))


def _with(
    done_of: Callable[[Tensor], Tensor] = lambda done: done, **empty: float | None
) -> dict[str, Any]:
    """Make a mutant: other rows, or another number for "empty"; None leaves a tensor alone."""

    def mutant(rows: RingRows, done: Tensor) -> None:
        for name, number in (EMPTY | empty).items():
            memory = getattr(rows, name)
            if number is not None:
                memory.masked_fill_(_wide(done_of(done), memory), number)

    return answers(start_again=mutant)


def _multiplied(rows: RingRows, done: Tensor) -> None:
    for memory in (rows.keys, rows.values):
        memory.mul_(~_wide(done, memory))
    rows.positions.masked_fill_(done[:, None], -1)
    rows.seen.masked_fill_(done, 0)


def _into_copies(rows: RingRows, done: Tensor) -> None:
    rows.keys[done].zero_()
    rows.values[done].zero_()
    rows.positions[done].fill_(-1)
    rows.seen[done].zero_()


def _some_into_copies(rows: RingRows, done: Tensor) -> None:
    rows.keys[done].zero_()
    rows.values[done].zero_()
    rows.positions[done] = -1
    rows.seen[done] = 0


def _no_axes(rows: RingRows, done: Tensor) -> None:
    rows.keys.masked_fill_(_wide(done, rows.keys), 0)
    rows.values.masked_fill_(_wide(done, rows.values), 0)
    rows.positions.masked_fill_(done, -1)
    rows.seen.masked_fill_(done, 0)


def _no_axes_anywhere(rows: RingRows, done: Tensor) -> None:
    for name, empty in EMPTY.items():
        getattr(rows, name).masked_fill_(done, empty)


def _cursor_slot_alone(rows: RingRows, done: Tensor) -> None:
    newest = torch.arange(rows.window) == ((rows.seen - 1) % rows.window)[:, None]
    rows.positions.masked_fill_(newest & done[:, None], -1)
    each = (newest & done[:, None])[:, None, :, None]
    rows.keys.masked_fill_(each, 0)
    rows.values.masked_fill_(each, 0)
    rows.seen.masked_fill_(done, 0)


def _anew(rows: RingRows, done: Tensor) -> None:
    start_again(rows, done)
    rows.keys, rows.values = rows.keys.clone(), rows.values.clone()
    rows.positions, rows.seen = rows.positions.clone(), rows.seen.clone()


def _read_by_the_host(rows: RingRows, done: Tensor) -> None:
    for row, finished in enumerate(done.tolist()):
        if finished:
            rows.keys[row], rows.values[row] = 0, 0
            rows.positions[row], rows.seen[row] = -1, 0


COPIES = (
    "a copy is emptied: x[done] is a new tensor. Write with one assignment, x[done] = 0, or in "
    "place, x.masked_fill_(...)"
)

AXES = (
    "`done`, with its one answer a row, is lined up from the right, with slots or numbers: give it "
    "axes, done[:, None] for positions. Without them, an error is the lucky case"
)

RESET = Exercise(
    id="tr4-reset",
    names=("start_again",),
    cases=_reset_cases,
    reference=answers(start_again),
    mutants=(
        Mutant(
            "every-row",
            "every row starts again: those where `done` is False go on",
            _with(torch.ones_like),
        ),
        Mutant(
            "first-done-row",
            "row 0 starts again whenever any row is done: each row has its own `done`",
            _with(lambda done: done.any() & (torch.arange(len(done)) == 0)),
        ),
        Mutant(
            "inverted",
            "the rows that are not done start again",
            _with(torch.logical_not),
        ),
        Mutant(
            "neighbour",
            "the next row starts again: row b goes with done[b]",
            _with(lambda done: done.roll(1)),
        ),
        Mutant(
            "leak",
            "the positions of the last text stay: the new one sees them when its own reach them. "
            "An empty slot is -1",
            _with(positions=None),
        ),
        Mutant(
            "zero-positions",
            "an empty slot claims to be position 0: empty is -1",
            _with(positions=0),
        ),
        Mutant(
            "seen-kept",
            "the cursor stays where it was: the new text begins at position 0",
            _with(seen=None),
        ),
        Mutant(
            "seen-empty",
            "seen becomes -1: it counts tokens, so a new row has 0; -1 is for an empty slot",
            _with(seen=-1),
        ),
        Mutant(
            "storage-kept",
            "keys and values stay: a masked slot has weight 0, and 0 times NaN is NaN",
            _with(keys=None, values=None),
        ),
        Mutant(
            "values-kept",
            "the values stay: a masked slot has weight 0, and 0 times NaN is NaN",
            _with(values=None),
        ),
        Mutant("keys-kept", "the keys stay: an empty slot holds zeros", _with(keys=None)),
        Mutant(
            "minus-one",
            "keys and values become -1: only a position says so that a slot is empty",
            _with(keys=-1, values=-1),
        ),
        Mutant(
            "multiplied",
            "keys and values are multiplied by 0: 0 times NaN is NaN. Write the zeros",
            answers(start_again=_multiplied),
        ),
        Mutant("copies", COPIES, answers(start_again=_into_copies)),
        Mutant("some-copies", COPIES, answers(start_again=_some_into_copies)),
        Mutant("no-axes", AXES, answers(start_again=_no_axes)),
        Mutant("no-axes-anywhere", AXES, answers(start_again=_no_axes_anywhere)),
        Mutant(
            "newest-alone",
            "only the newest token of a row is emptied: the whole row is",
            answers(start_again=_cursor_slot_alone),
        ),
        Mutant("anew", ANEW, answers(start_again=_anew)),
        Mutant("host", HOST, answers(start_again=_read_by_the_host)),
    ),
)
