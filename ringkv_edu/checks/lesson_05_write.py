"""Lesson 05: one token a row, each at its own cursor, with no number read by the host."""

from __future__ import annotations

from random import Random
from typing import Any

from . import lesson_05_write_mistakes as wrong
from .lesson_05_common import ANEW, HOST, kept_case, reads_case, torch_case
from .lesson_05_write_mistakes import write_rows
from .model import Case, Exercise, Mutant, answers

__all__ = ["WRITE"]


def _write_cases(rng: Random) -> list[Case]:
    """Draw (seen, window, kv_heads, head_dim, tokens)."""
    runs: list[tuple[list[int], int, int, int, int]] = [
        ([10, 6, 3], 4, 1, 2, 1), ([0, 0], 3, 1, 2, 1), ([0, 5], 3, 2, 3, 2),
        ([2, 3, 9], 4, 3, 2, 3), ([1, 0, 4], 1, 2, 2, 2), ([3], 5, 1, 2, 4),
    ]  # fmt: skip
    seen = [rng.randrange(20) for _ in range(rng.randrange(2, 5))]
    runs.append((seen, rng.randrange(2, 6), 2, 2, rng.randrange(2, 5)))
    cases = [_write_case(seed, *run) for seed, run in enumerate(runs)]
    rows = 'filled_rows([6, 3], draw(1, "tr1"), 8)'
    token = "*torch.ones(2, 2, 1, 2).double()"
    before = "before = [rows.keys, rows.values, rows.positions, rows.seen]"
    kept = f"rows = {rows}; {before}; write_rows(rows, {token})"
    reads = f"write_rows({rows}, {token})"
    return [*cases, kept_case(kept, "write_rows"), reads_case(reads, "write_rows")]


def _write_case(
    seed: int, seen: list[int], window: int, kv_heads: int, head_dim: int, tokens: int
) -> Case:
    call = f"write_rows(rows, *drawn(rng, 2, {len(seen)}, {kv_heads}, {head_dim}))"
    many = f"[{call} for _ in range({tokens})]" if tokens > 1 else call
    made = f"filled_rows({seen}, rng, {window}, {kv_heads}, {head_dim})"

    def look(space: dict[str, Any]) -> dict[str, Any]:
        rows = space["rows"]
        return {
            "positions": rows.positions,
            "seen": rows.seen,
            "keys": rows.keys,
            "values": rows.values,
        }

    line = f'rng = draw({seed}, "tr1"); rows = {made}; {many}'
    return torch_case(line, "write_rows", look, may_change=(0,))


CROSS = (
    "each token is written into every row: x[:, slot] takes all rows with all slots. To pair row 0 "
    "with slot[0], row 1 with slot[1], ... give both as indices, x[each, :, slot]"
)

WRITE = Exercise(
    id="tr1-write",
    names=("write_rows",),
    cases=_write_cases,
    reference=answers(write_rows),
    mutants=(
        Mutant(
            "first-cursor",
            "row 0's cursor serves every row: each row has its own",
            wrong.write_at(lambda rows: rows.seen[:1] % rows.window),
        ),
        Mutant(
            "first-position",
            "row 0's cursor serves every row, and so does its position: each row has its own",
            answers(write_rows=wrong.one_position),
        ),
        Mutant(
            "highest-cursor",
            "the largest cursor of the batch serves every row: each row has its own",
            wrong.write_at(lambda rows: rows.seen.amax() % rows.window),
        ),
        Mutant("cross", CROSS, answers(write_rows=wrong.crossed)),
        Mutant("cross-as-it-is", CROSS, answers(write_rows=wrong.crossed_as_it_is)),
        Mutant("cross-positions", CROSS, answers(write_rows=wrong.crossed_positions(own=True))),
        Mutant(
            "cross-positions-all",
            CROSS,
            answers(write_rows=wrong.crossed_positions(own=False)),
        ),
        Mutant("no-modulo", wrong.PAST_THE_END, wrong.write_at(lambda rows: rows.seen)),
        *(
            Mutant(
                f"no-modulo-scatter{style}",
                wrong.PAST_THE_END,
                answers(write_rows=wrong.scattered(lambda rows: rows.seen, first)),
            )
            for style, first in (("", False), ("-positions", True))
        ),
        Mutant(
            "modulo-batch",
            "the modulo is taken by the number of rows, which is what len(rows.keys) gives: a row "
            "has rows.window slots",
            wrong.write_at(lambda rows: rows.seen % len(rows.keys)),
        ),
        Mutant(
            "newest-overwritten",
            "a full row writes over the same slot again and again, where the oldest should go",
            wrong.write_at(lambda rows: rows.seen.clamp(max=rows.window - 1)),
        ),
        Mutant(
            "stops-when-full",
            "a full row takes no more tokens: the newest goes over the oldest",
            answers(write_rows=wrong.only_until_full),
        ),
        Mutant(
            "slot-on-heads",
            "the slot is used on the axis of the heads: write keys[each, :, slot]",
            answers(write_rows=wrong.slot_on_heads),
        ),
        Mutant(
            "index-not-expanded",
            "scatter_ writes as many numbers as its index has: expand the index to the shape of "
            "what is written",
            answers(write_rows=wrong.index_not_expanded),
        ),
        Mutant(
            "shifts",
            "everything moves one place for each token: the ring moves nothing, position p lives "
            "in slot p % window",
            answers(write_rows=wrong.shifting),
        ),
        Mutant("into-copies", wrong.COPIES, answers(write_rows=wrong.into_copies)),
        Mutant(
            "into-copies-not-positions", wrong.COPIES, answers(write_rows=wrong.into_copies_of_rows)
        ),
        Mutant(
            "not-counted",
            "seen is not raised: the next token goes to the same slot",
            wrong.write_at(after=wrong.uncount),
        ),
        Mutant(
            "one-row-counted",
            "seen is raised in row 0 alone: every row has taken a token",
            wrong.write_at(after=wrong.count_one_row),
        ),
        Mutant(
            "seen-wraps",
            "seen begins again at 0 when a row is full: it counts all tokens; only the slot wraps",
            wrong.write_at(after=wrong.wrap),
        ),
        Mutant(
            "seen-capped",
            "seen stops at window: it counts all tokens, and slot and position follow it",
            wrong.write_at(after=wrong.cap),
        ),
        Mutant(
            "slot-as-position",
            "the slot is stored where the position belongs: they are the same only in the first "
            "round",
            wrong.write_at(position_of=lambda rows, slot: slot),
        ),
        Mutant(
            "counted-first",
            "seen is raised before it is used: the first token is position 0, in slot 0",
            answers(write_rows=wrong.counted_first),
        ),
        Mutant(
            "position-one-more",
            "the position is one too large: store seen before it is raised",
            wrong.write_at(position_of=lambda rows, slot: rows.seen + 1),
        ),
        Mutant(
            "one-off",
            "writing starts at slot 1: position 0 lives in slot 0",
            wrong.write_at(lambda rows: (rows.seen + 1) % rows.window),
        ),
        Mutant(
            "first-row",
            "only row 0 is written: every row takes a token",
            answers(write_rows=wrong.first_row),
        ),
        Mutant(
            "first-head",
            "only head 0 is written: a token has a key and a value in every head",
            answers(write_rows=wrong.first_head),
        ),
        Mutant(
            "swapped",
            "keys and values are swapped",
            answers(write_rows=lambda rows, k, v: write_rows(rows, v, k)),
        ),
        Mutant(
            "key-as-value",
            "the key is stored as the value, too",
            answers(write_rows=lambda rows, k, v: write_rows(rows, k, k)),
        ),
        Mutant("no-value", "the value is not stored", answers(write_rows=wrong.no_value)),
        Mutant(
            "no-position",
            "the position is not stored: the slot still says what it said",
            answers(write_rows=wrong.no_position),
        ),
        Mutant(
            "added",
            "the new token is added to what lay in the slot (scatter_add_, index_add_, +=): it "
            "takes its place",
            answers(write_rows=wrong.adding),
        ),
        Mutant("anew", ANEW, answers(write_rows=wrong.anew)),
        Mutant("host", HOST, answers(write_rows=wrong.read_by_the_host)),
    ),
)
