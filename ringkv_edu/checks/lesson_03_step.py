"""Lesson 03: attend first, then write."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ..given_numpy import RingArrays
from . import lesson_03_step_mistakes as wrong
from .compare import plain
from .guard import call
from .lesson_03_common import filled, watched_case
from .lesson_03_step_mistakes import step
from .model import Case, Exercise, Mutant, answers

__all__ = ["STEP"]


def _step_cases(rng: Random) -> list[Case]:
    """Draw (seen, chunks, window, sinks, slack, taken back, heads, kv_heads)."""
    runs: list[tuple[int, list[int], int, int, int, int, int, int]] = [
        (8, [3], 4, 0, 0, 0, 1, 1), (10, [3], 4, 0, 0, 0, 2, 1), (0, [9], 4, 0, 0, 0, 1, 1),
        (0, [1, 9], 4, 0, 0, 0, 1, 1), (0, [4, 4, 2], 3, 0, 0, 0, 1, 1),
        (5, [1, 1], 1, 0, 0, 0, 1, 1), (0, [9, 3], 3, 2, 0, 0, 1, 1),
        (9, [5, 1, 2], 3, 0, 2, 1, 4, 2), (rng.randrange(9, 14), [4, 3], 3, 1, 1, 0, 2, 2),
    ]  # fmt: skip
    return [_step_case(seed, *run) for seed, run in enumerate(runs)]


def _step_case(
    seed: int, seen: int, chunks: list[int], window: int, sinks: int, slack: int, taken: int,
    heads: int, kv_heads: int,
) -> Case:  # fmt: skip
    many = len(chunks) > 1
    n = "n" if many else chunks[0]
    one = f"step(ring, numbers(rng, {heads}, {n}, 2), *numbers(rng, 2, {kv_heads}, {n}, 2))"
    ring = filled(seen, window, kv_heads, sinks, slack, taken)
    out = f"outs = [{one} for n in {chunks}]" if many else f"out = {one}"
    line = f'rng = draw({seed}, "chunk3"); ring = {ring}; {out}'
    return watched_case(line, "step", _watched, _memory)


def _watched(number: int, function: Any, ring: RingArrays, q: Any, k: Any, v: Any) -> Any:
    first, (heads, n, _) = ring.seen, q.shape
    out = call(function, ring, q, k, v, may_change=(0,))
    rows = _rows(out, first, heads, n, "result" if number == 1 else f"result at {first}")
    return {
        **rows,
        f"seen after the chunk at {first}": ring.seen,
        f"positions after the chunk at {first}": plain(ring.positions),
    }


def _memory(space: dict[str, Any]) -> dict[str, Any]:
    return {"keys": space["ring"].keys, "values": space["ring"].values}


def _rows(result: Any, first: int, heads: int, n: int, label: str) -> dict[str, Any]:
    """Give an output row by row, each with all its heads, or what is wrong with its shape."""
    out = plain(result)
    shape, part = [], out
    while isinstance(part, list):
        shape.append(len(part))
        part = part[0] if part else None
    if shape != [heads, n, 2]:
        return {label: f"shape {shape}" if shape else result}
    rows = {f"output at {first + row}": [out[h][row] for h in range(heads)] for row in range(n)}
    return {label: f"shape {shape}", **rows}


AXIS = (
    "axis 0 is taken where axis 1 counts the tokens: axis 0 counts the heads, and np.concatenate "
    "joins along it unless told otherwise"
)

SEEN_AFTER = (
    "`ring.seen` is read after `place` has raised it: the chunk's rows and columns stand n "
    "positions too far on"
)

STEP = Exercise(
    id="chunk3-step",
    names=("step",),
    cases=_step_cases,
    reference=answers(step),
    mutants=(
        Mutant(
            "written-first",
            "the chunk is written before it attends: its later tokens have overwritten keys that "
            "its earlier rows still need",
            answers(step=wrong.written_first),
        ),
        Mutant(
            "twice",
            "the chunk is written first and then stands beside the ring as well: its tokens are "
            "counted twice, and older keys are gone",
            answers(step=wrong.twice),
        ),
        Mutant(
            "all-after",
            "everything is read after writing, `ring.seen` too: the rows ask from positions n too "
            "far on. Gather, attend, and write last",
            answers(step=wrong.all_after),
        ),
        Mutant(
            "seen-moved",
            "`ring.seen` is read after writing: it has moved on by n, and the rows ask from too "
            "far on",
            answers(step=wrong.seen_moved),
        ),
        *(
            Mutant(f"positions-after{style}", SEEN_AFTER, answers(step=mutant))
            for style, mutant in (
                ("", wrong.positions_after(held_too=True)),
                ("-chunk-only", wrong.positions_after(held_too=False)),
            )
        ),
        Mutant(
            "held-after",
            "`ring.positions` is read after `place` has changed it, and the keys before: each key "
            "needs its own position",
            answers(step=wrong.held_after),
        ),
        Mutant(
            "chunk-only",
            "the chunk attends to itself alone: the ring before it belongs to its windows, too",
            answers(step=wrong.gathering(wrong.chunk_alone)),
        ),
        Mutant(
            "ring-only",
            "the chunk attends to the ring alone: its tokens do not even see themselves. A row "
            "that sees nothing gives NaN",
            answers(step=wrong.gathering(wrong.ring_alone)),
        ),
        Mutant(
            "clamped",
            "only the last W columns are read: early rows of a long chunk then see nothing, and "
            "0 / 0 is NaN",
            answers(step=wrong.gathering(wrong.last_columns)),
        ),
        Mutant(
            "chunk-cut",
            "the chunk's first keys were cut off: its first rows lose their own keys, and a row "
            "that sees nothing gives 0 / 0, which is NaN",
            answers(step=wrong.gathering(wrong.chunk_cut)),
        ),
        *(
            Mutant(f"axis-0{style}", AXIS, answers(step=mutant))
            for style, mutant in wrong.along_axis_0().items()
        ),
        Mutant(
            "one-position",
            "every row asks from the last position: earlier rows see their future, and lose the "
            "start of their windows",
            answers(
                step=wrong.gathering(
                    lambda ring, asked, *rest: (np.full_like(asked, asked[-1]), *rest)
                )
            ),
        ),
        Mutant(
            "one-late",
            "the rows ask from one position too far on: the first token of the chunk is at "
            "`ring.seen`",
            answers(step=wrong.gathering(lambda ring, asked, *rest: (asked + 1, *rest))),
        ),
        Mutant(
            "itself-missing",
            "each token attends before it is written, and to the ring alone: it must see itself",
            answers(step=wrong.one_by_one_late),
        ),
        Mutant(
            "held-first",
            "the new positions stand first in `held`, and the ring's keys first among the keys: "
            "each key needs its own position",
            answers(
                step=wrong.gathering(
                    lambda ring, asked, held, *rest: (asked, np.roll(held, len(asked)), *rest)
                )
            ),
        ),
        Mutant(
            "from-zero",
            "the rows ask from 0, 1, ...: the first token of the chunk is at `ring.seen`",
            answers(step=wrong.gathering(lambda ring, asked, *rest: (asked - asked[0], *rest))),
        ),
        Mutant(
            "from-zero-columns",
            "the chunk is numbered from 0, its rows and its columns: its first token is at "
            "`ring.seen`",
            answers(step=wrong.gathering(wrong.from_zero)),
        ),
        Mutant(
            "values-from-keys",
            "keys stand where the values belong",
            answers(step=wrong.gathering(wrong.values_from_keys)),
        ),
        Mutant(
            "last-only",
            "only the last row is returned: prefill needs every row, and so does a check of drafts",
            answers(step=wrong.last_only),
        ),
        Mutant(
            "not-written",
            "the chunk is never written: the next token does not find it",
            answers(step=wrong.not_written),
        ),
        Mutant(
            "seen-alone",
            "`ring.seen` is raised, and the chunk is never written: `place` does both",
            answers(step=wrong.seen_alone),
        ),
        Mutant(
            "window-written",
            "only the last W tokens are given to `place`: it gives the first of them position "
            "`ring.seen`, and counts no others. It takes a chunk of any length",
            answers(step=wrong.window_written),
        ),
        Mutant(
            "last-written",
            "only the last token of the chunk is written",
            answers(step=wrong.last_written),
        ),
        Mutant(
            "written-twice",
            "the chunk is written twice: `seen` counts its tokens two times",
            answers(step=wrong.written_twice),
        ),
        Mutant(
            "no-sinks",
            "the sinks are left out of what the rows see: pass `ring.sinks`",
            answers(step=wrong.no_sinks),
        ),
        Mutant(
            "window-is-slots",
            "the number of slots is taken for the window: slack and sinks are no part of it",
            answers(step=wrong.window_is_slots),
        ),
        Mutant("no-return", "the outputs are not returned", answers(step=wrong.no_return)),
    ),
)
