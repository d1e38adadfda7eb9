"""Lesson 03: the mask of a chunk, one lower bound per row."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy.typing as npt

from ..given_numpy import filled_arrays
from . import lesson_03_mask_mistakes as wrong
from .compare import plain
from .guard import call
from .lesson_03_mask_mistakes import chunk_mask
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["MASK"]

Array = npt.NDArray[Any]


def _mask_cases(rng: Random) -> list[Case]:
    """Draw (seen, n, window, sinks, slack, taken back)."""
    runs = [(8, 3, 4, 0, 0, 0), (10, 3, 4, 0, 0, 0), (0, 6, 4, 0, 0, 0), (2, 4, 4, 0, 0, 0)]
    runs += [(11, 3, 4, 2, 0, 0), (0, 9, 3, 2, 0, 0), (1, 7, 3, 2, 0, 0), (9, 6, 3, 0, 2, 2)]
    runs += [(9, 3, 4, 0, 2, 1), (11, 4, 3, 2, 2, 2), (6, 3, 1, 0, 0, 0), (10, 1, 4, 0, 0, 0)]
    for _ in range(2):
        window, sinks, slack = rng.randrange(2, 5), rng.randrange(3), rng.randrange(3)
        runs.append((rng.randrange(9, 20), rng.randrange(2, 7), window, sinks, slack, 0))
    return [_mask_case(*run) for run in runs]


def _mask_case(seen: int, n: int, window: int, sinks: int, slack: int, taken: int) -> Case:
    positions = filled_arrays(seen, Random(0), window, 1, 1, sinks, slack, taken).positions

    def run(answer: Answer) -> dict[str, Any]:
        given = (positions.copy(), seen, n, window, sinks)
        return _described(call(answer.chunk_mask, *given), positions, seen, n)

    given = f"np.array({positions.tolist()}), {seen}, {n}, {window}, {sinks}"
    return Case(f"chunk_mask({given})", run)


def _described(result: Any, positions: Array, seen: int, n: int) -> dict[str, Any]:
    """Give a mask as the positions that each row sees, or what is wrong with its form."""
    mask = plain(result)
    if not isinstance(mask, list) or not all(isinstance(row, list) for row in mask):
        return {"result": result}
    shape = [len(mask), *sorted({len(row) for row in mask})]
    if shape != [n, len(positions) + n]:
        return {"result": f"shape {shape}"}
    odd = [entry for row in mask for entry in row if entry not in (0, 1)][:3]
    held = [*positions.tolist(), *range(seen, seen + n)]
    rows = {
        f"row of {seen + row} sees": [p for p, yes in zip(held, mask[row], strict=True) if yes == 1]
        for row in range(n)
    }
    return {"result": f"shape {shape}", "entries beside True and False": odd, **rows}


MASK = Exercise(
    id="chunk2-mask",
    names=("chunk_mask",),
    cases=_mask_cases,
    reference=answers(chunk_mask),
    mutants=(
        Mutant(
            "no-window",
            "there is no lower bound: each row sees the whole ring, and what has left its window",
            answers(chunk_mask=wrong.seen_when(wrong.no_window)),
        ),
        Mutant(
            "band-alone",
            "only the distance is asked for: an empty slot, -1, may be near, and a sink may be far",
            answers(chunk_mask=wrong.seen_when(wrong.band_alone)),
        ),
        Mutant(
            "first-bound",
            "the first row's lower bound serves all rows: later rows see keys that have left "
            "their windows",
            answers(chunk_mask=wrong.seen_when(wrong.first_bound)),
        ),
        Mutant(
            "last-bound",
            "the last row's lower bound serves all rows: earlier rows lose keys that are still "
            "in their windows",
            answers(chunk_mask=wrong.seen_when(wrong.last_bound)),
        ),
        Mutant(
            "future",
            "nothing forbids the future: a token of the chunk sees those that come after it",
            answers(chunk_mask=wrong.seen_when(wrong.future)),
        ),
        Mutant(
            "not-itself",
            "a token does not see itself: it is the newest of its own window",
            answers(chunk_mask=wrong.seen_when(wrong.not_itself)),
        ),
        Mutant(
            "local-rows",
            "the row number is taken as the position: row 0 asks from `seen`, not from 0",
            answers(chunk_mask=wrong.seen_when(wrong.rule, lambda seen: 0)),
        ),
        Mutant(
            "local-chunk",
            "the chunk is numbered from 0, its rows and its columns: its first token is at `seen`",
            answers(chunk_mask=wrong.chunk_by_row),
        ),
        Mutant(
            "chunk-columns-by-row",
            "the chunk's columns are numbered from 0: its first token is at `seen`",
            answers(chunk_mask=wrong.chunk_columns_by_row),
        ),
        Mutant(
            "put-in-order",
            "the stored positions are sorted: a column stands for its slot, whatever it holds",
            answers(chunk_mask=wrong.put_in_order),
        ),
        Mutant(
            "lone-token",
            "a chunk of one sees everything: it attends before it is written, so the slot that it "
            "will take still holds the key that has left",
            answers(chunk_mask=wrong.lone_token),
        ),
        Mutant(
            "by-column",
            "the column is taken as the position: in a ring, slot order is not order of time",
            answers(chunk_mask=wrong.by_column),
        ),
        Mutant(
            "row-early",
            "every row asks from one position too early: the next token's position is `seen`",
            answers(chunk_mask=wrong.seen_when(wrong.rule, lambda seen: seen - 1)),
        ),
        Mutant(
            "row-late",
            "every row asks from one position too late: the next token's position is `seen`",
            answers(chunk_mask=wrong.seen_when(wrong.rule, lambda seen: seen + 1)),
        ),
        Mutant(
            "empty-seen",
            "an empty slot passes: -1 is less than every position and less than `sinks`",
            answers(chunk_mask=wrong.seen_when(wrong.empty_seen)),
        ),
        Mutant(
            "zero-empty",
            "position 0 is taken for empty: empty is -1",
            answers(chunk_mask=wrong.seen_when(wrong.zero_empty)),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide: W counts the query itself, so the distance stays below W",
            answers(chunk_mask=wrong.wider(1)),
        ),
        Mutant(
            "too-narrow",
            "the window is one too narrow: a row sees W positions, itself among them",
            answers(chunk_mask=wrong.wider(-1)),
        ),
        Mutant(
            "no-sinks",
            "a sink that has left the window is no longer seen: every later row sees the sinks",
            answers(chunk_mask=wrong.seen_when(wrong.no_sinks)),
        ),
        Mutant(
            "stored-sinks-only",
            "sinks are seen only once they lie in the ring: in the first chunk they are columns "
            "of the chunk",
            answers(chunk_mask=wrong.stored_sinks_only),
        ),
        Mutant(
            "sinks-by-slot",
            "the first `sinks` slots are always seen, empty ones, too: ask for the positions "
            "below `sinks`, wherever they stand",
            answers(chunk_mask=wrong.sinks_by_slot),
        ),
        Mutant(
            "precedence",
            "sinks escape every other condition, as in `a & b & c | d`: then empty slots pass, "
            "and rows see sinks that come later. Put parentheses around window and sinks",
            answers(chunk_mask=wrong.seen_when(wrong.precedence)),
        ),
        Mutant(
            "later-sinks",
            "a row sees sinks that come after it: no row sees the future, sinks included",
            answers(chunk_mask=wrong.seen_when(wrong.later_sinks)),
        ),
        Mutant(
            "one-more-sink",
            "there is one sink too many: the sinks are the positions below `sinks`",
            answers(chunk_mask=wrong.seen_when(wrong.one_more_sink)),
        ),
        Mutant(
            "sinks-inside",
            "sinks are counted inside the window: a row sees W positions and the sinks",
            answers(chunk_mask=wrong.seen_when(wrong.sinks_inside)),
        ),
        Mutant(
            "and",
            "`and`, `or`, or a chain like 0 <= x < w, is used on arrays: it asks one question of a "
            "whole array. Join comparisons with & and |, each in parentheses of its own",
            answers(chunk_mask=wrong.seen_when(wrong.joined_by_and)),
        ),
        Mutant(
            "chunk-first",
            "the chunk's columns come first: the ring's slots do, then the chunk",
            answers(chunk_mask=wrong.chunk_first),
        ),
        Mutant(
            "transposed",
            "rows and columns are swapped: one row for each query",
            answers(chunk_mask=wrong.transposed),
        ),
        Mutant(
            "ring-only",
            "the chunk's own columns are missing: its tokens see one another, too",
            answers(chunk_mask=wrong.part(lambda slots: slice(0, slots))),
        ),
        Mutant(
            "chunk-only",
            "the ring's columns are missing",
            answers(chunk_mask=wrong.part(lambda slots: slice(slots, None))),
        ),
        Mutant(
            "to-be-added",
            "the mask is made of 0 and -inf, to be added to scores: here it is True where seen",
            answers(chunk_mask=wrong.to_be_added),
        ),
        Mutant(
            "inverted",
            "True and False are swapped: True means that the key is seen",
            answers(chunk_mask=wrong.inverted),
        ),
    ),
)
