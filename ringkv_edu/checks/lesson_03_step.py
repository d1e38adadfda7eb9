"""Lesson 03: attend first, then write."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ..given_numpy import filled_arrays, numbers
from . import lesson_03_step_mistakes as wrong
from .compare import plain
from .guard import call
from .lesson_03_step_mistakes import step
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["STEP"]


def _step_cases(rng: Random) -> list[Case]:
    """Draw (seen, chunks, window, sinks, slack, taken back, heads, kv_heads)."""
    runs: list[tuple[int, list[int], int, int, int, int, int, int]] = [
        (8, [3], 4, 0, 0, 0, 1, 1), (10, [3], 4, 0, 0, 0, 2, 1), (0, [9], 4, 0, 0, 0, 1, 1),
        (0, [1, 9], 4, 0, 0, 0, 1, 1), (0, [4, 4, 2], 3, 0, 0, 0, 1, 1),
        (5, [1, 1], 1, 0, 0, 0, 1, 1), (0, [9, 3], 3, 2, 0, 0, 1, 1),
        (9, [5, 1, 2], 3, 0, 2, 1, 4, 2), (rng.randrange(9, 14), [4, 3], 3, 1, 1, 0, 2, 2),
    ]  # fmt: skip
    return [_step_case(rng.random(), *run) for run in runs]


def _step_case(
    seed: float, seen: int, chunks: list[int], window: int, sinks: int, slack: int, taken: int,
    heads: int, kv_heads: int,
) -> Case:  # fmt: skip
    def run(answer: Answer) -> dict[str, Any]:
        rng = Random(seed)
        ring = filled_arrays(seen, rng, window, kv_heads, 2, sinks, slack, taken)
        shown: dict[str, Any] = {}
        for n in chunks:
            first = ring.seen
            q = numbers(rng, heads, n, 2)
            k, v = numbers(rng, kv_heads, n, 2), numbers(rng, kv_heads, n, 2)
            out = call(answer.step, ring, q, k, v, may_change=(0,))
            shown |= _rows(out, first, heads, n, f"result at {first}" if shown else "result")
            shown[f"seen after the chunk at {first}"] = ring.seen
            shown[f"positions after the chunk at {first}"] = plain(ring.positions)
        return {**shown, "keys": ring.keys, "values": ring.values}

    sizes = f"window {window}, sinks {sinks}, slack {slack}, {heads} heads over {kv_heads}"
    back = f", {taken} more taken back" if taken else ""
    return Case(f"{sizes}; {seen} tokens{back}, then chunks of {chunks}", run)


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
        Mutant(
            "chunk-only",
            "the chunk attends to itself alone: the ring before it belongs to its windows, too",
            answers(
                step=wrong.gathering(
                    lambda ring, asked, held, keys, values: (
                        asked,
                        asked,
                        keys[:, ring.slots :],
                        values[:, ring.slots :],
                    )
                )
            ),
        ),
        Mutant(
            "ring-only",
            "the chunk attends to the ring alone: its tokens do not even see themselves. A row "
            "that sees nothing gives NaN",
            answers(
                step=wrong.gathering(
                    lambda ring, asked, held, keys, values: (
                        asked,
                        ring.positions,
                        keys[:, : ring.slots],
                        values[:, : ring.slots],
                    )
                )
            ),
        ),
        Mutant(
            "clamped",
            "only the last W columns are read: early rows of a long chunk then see nothing, and "
            "0 divided by 0 is NaN",
            answers(
                step=wrong.gathering(
                    lambda ring, asked, held, keys, values: (
                        asked,
                        held[-ring.window :],
                        keys[:, -ring.window :],
                        values[:, -ring.window :],
                    )
                )
            ),
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
