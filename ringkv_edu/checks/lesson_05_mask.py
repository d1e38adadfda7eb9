"""Lesson 05: which slots the newest token of each row sees."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch

from .lesson_05_common import HOST, NUMBERS, mask_rows, reads_case, torch_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["MASK"]

Tensor = torch.Tensor
State = tuple[list[int], list[list[int]], int]  # seen, positions, window


def rows_mask(positions: Tensor, seen: Tensor, window: int) -> Tensor:
    """Give (batch, slots) bool: what a query at seen - 1 of each row sees."""
    return _rule(seen[:, None] - 1 - positions, positions, window)


def _rule(distance: Tensor, positions: Tensor, window: int) -> Tensor:
    return (positions >= 0) & (distance >= 0) & (distance < window)


def _mask_cases(rng: Random) -> list[Case]:
    states: list[State] = [
        ([10, 6, 3], [[8, 9, 6, 7], [4, 5, 2, 3], [0, 1, 2, -1]], 4),
        ([10, 6], [[5, 6, 7, 8, 9], [5, -1, 2, 3, 4]], 3),
        ([1, 0, 4], [[0, -1, -1], [-1, -1, -1], [3, 1, 2]], 3),
        ([2, 7], [[1, -1, -1, -1, 0, -1], [6, 1, 2, 3, 4, 5]], 4),
        ([1, 9], [[0], [8]], 1),
        ([8], [[-1, 7, 2, 3, 4, 5, 6]], 2),
        ([4, 4], [[3, 0, 1, 2], [-1, 1, -1, 3]], 3),
    ]
    slots, window = rng.randrange(4, 7), rng.randrange(2, 4)
    seen = [rng.randrange(1, 20) for _ in range(rng.randrange(2, 5))]
    held = [[_newest(slot, count, slots) for slot in range(slots)] for count in seen]
    cases = [_mask_case(*state) for state in [*states, (seen, held, window)]]
    call = "rows_mask(torch.tensor([[4, 1, 2, 3], [0, 1, -1, -1]]), torch.tensor([5, 2]), 4)"
    return [*cases, reads_case(call, "rows_mask")]


def _newest(slot: int, seen: int, slots: int) -> int:
    """Give the newest position of a text that lives in a slot, or -1."""
    return max((position for position in range(slot, seen, slots)), default=-1)


def _mask_case(seen: list[int], positions: list[list[int]], window: int) -> Case:
    line = f"rows_mask(torch.tensor({positions}), torch.tensor({seen}), {window})"
    shape = [len(positions), len(positions[0])]
    return torch_case(
        f"mask = {line}", "rows_mask", lambda space: mask_rows(space["mask"], shape, "row")
    )


def _when(test: Callable[[Tensor, Tensor, int], Any]) -> dict[str, Any]:
    """Make a mutant from a test on (distance, positions, window)."""

    def mutant(positions: Tensor, seen: Tensor, window: int) -> Any:
        return test(seen[:, None] - 1 - positions, positions, window)

    return answers(rows_mask=mutant)


def _asking(query: Callable[[Tensor, Tensor], Tensor]) -> dict[str, Any]:
    """Make a mutant from where the rows ask from: (seen, positions) -> broadcast positions."""

    def mutant(positions: Tensor, seen: Tensor, window: int) -> Any:
        return _rule(query(seen, positions) - positions, positions, window)

    return answers(rows_mask=mutant)


def _by_slot(positions: Tensor, seen: Tensor, window: int) -> Tensor:
    slots = torch.arange(positions.shape[1]).expand_as(positions)
    return _rule(seen[:, None] - 1 - slots, slots, window)


def _by_count(positions: Tensor, seen: Tensor, window: int) -> Tensor:
    return torch.arange(positions.shape[1]) < seen[:, None]


def _by_count_in_window(positions: Tensor, seen: Tensor, window: int) -> Tensor:
    return torch.arange(positions.shape[1]) < seen[:, None].clamp(max=window)


def _read_by_the_host(positions: Tensor, seen: Tensor, window: int) -> Tensor:
    both = zip(positions, seen.tolist(), strict=True)
    rows = [_rule(count - 1 - held, held, window) for held, count in both]
    return torch.stack(rows)


def _to_be_added(*given: Any) -> Tensor:
    return torch.where(rows_mask(*given), 0.0, -torch.inf)


AXIS = (
    "seen, with its one number a row, is lined up with the slots: give it a second axis, "
    "seen[:, None]. Without it, an error is the lucky case"
)
SHAPE = (
    "the mask has another shape than asked for: here it is (batch, slots); axes for heads and "
    "queries come with the attention"
)
AND = (
    "`and`, `or`, `not`, a chain like 0 <= d < w, or & without parentheses is used on tensors: it "
    "asks one question of a whole tensor. Join comparisons with &, each in parentheses of its own"
)

MASK = Exercise(
    id="tr2-mask",
    names=("rows_mask",),
    cases=_mask_cases,
    reference=answers(rows_mask),
    mutants=(
        Mutant(
            "first-row",
            "every row asks from row 0's newest position: each row has its own",
            _asking(lambda seen, positions: seen[:1, None] - 1),
        ),
        Mutant(
            "newest-of-all",
            "every row asks from the newest position of the whole batch: each row has its own",
            _asking(lambda seen, positions: positions.amax()),
        ),
        Mutant("no-new-axis", AXIS, _asking(lambda seen, positions: seen - 1)),
        Mutant(
            "no-new-axis-turned",
            AXIS,
            answers(rows_mask=lambda p, seen, w: (p > seen - 1 - w) & (p < seen) & (p >= 0)),
        ),
        Mutant(
            "one-late",
            "the oldest token of the window is lost: the newest token, which asks, is at seen - 1 "
            "and not at seen, and W counts it",
            _asking(lambda seen, positions: seen[:, None]),
        ),
        Mutant(
            "one-early",
            "the query stands one position too early: the newest token is at seen - 1",
            _asking(lambda seen, positions: seen[:, None] - 2),
        ),
        Mutant(
            "empty-seen",
            "an empty slot passes: -1 lies near the first positions of a text, and holds no key",
            _when(lambda d, p, w: (d >= 0) & (d < w)),
        ),
        Mutant(
            "zero-empty",
            "position 0 is taken for empty: empty is -1",
            _when(lambda d, p, w: _rule(d, p, w) & (p > 0)),
        ),
        Mutant(
            "no-window",
            "everything stored is seen: a row with more slots than the window also holds tokens "
            "that have left it",
            _when(lambda d, p, w: p >= 0),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide: W counts the query itself, so the distance stays below W",
            _when(lambda d, p, w: _rule(d, p, w + 1)),
        ),
        Mutant(
            "not-itself",
            "the newest token does not see itself: it is the newest of its own window",
            _when(lambda d, p, w: _rule(d, p, w) & (d > 0)),
        ),
        Mutant(
            "by-slot",
            "the slot is taken as the position: what a slot holds stands in `positions`",
            answers(rows_mask=_by_slot),
        ),
        Mutant(
            "by-count",
            "the mask is made from a count, slot < seen: slots can be empty in the middle, and "
            "hold tokens that have left the window",
            answers(rows_mask=_by_count),
        ),
        Mutant(
            "by-count-in-window",
            "the mask is made from a count, the first min(seen, window) slots: the window may lie "
            "in any slots",
            answers(rows_mask=_by_count_in_window),
        ),
        Mutant("and", AND, _when(lambda d, p, w: p >= 0 and d >= 0 and d < w)),
        Mutant("heads-axis", SHAPE, _when(lambda d, p, w: _rule(d, p, w)[:, None, None])),
        Mutant("query-axis", SHAPE, _when(lambda d, p, w: _rule(d, p, w)[:, None])),
        Mutant(
            "transposed",
            "rows and columns are swapped: the batch comes first",
            _when(lambda d, p, w: _rule(d, p, w).T),
        ),
        Mutant(
            "to-be-added",
            "the mask is made of 0 and -inf, to be added to scores: here it is True where seen",
            answers(rows_mask=_to_be_added),
        ),
        Mutant("numbers", NUMBERS, _when(lambda d, p, w: _rule(d, p, w).double())),
        Mutant(
            "inverted",
            "True and False are swapped: True means that the slot is seen",
            _when(lambda d, p, w: ~_rule(d, p, w)),
        ),
        Mutant("host", HOST, answers(rows_mask=_read_by_the_host)),
    ),
)
