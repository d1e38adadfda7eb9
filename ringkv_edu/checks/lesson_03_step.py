"""Lesson 03: attend first, then write."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_attention import attend_at
from ..given_chunks import place
from ..given_numpy import RingArrays, filled_arrays, numbers
from .compare import plain
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["STEP"]

Array = npt.NDArray[Any]
Step = Callable[[RingArrays, Array, Array, Array], Any]
Seen = tuple[Array, Array, Array, Array]  # asked from, held, keys, values


def step(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    """Store n tokens and give what each of their queries sees."""
    return _attended(ring, q, *_both(ring, k, v), then=(k, v))


def _both(ring: RingArrays, k: Array, v: Array) -> Seen:
    """Gather the ring as it is and the chunk beside it."""
    new = np.arange(ring.seen, ring.seen + k.shape[1])
    held = np.concatenate([ring.positions, new])
    keys, values = (np.concatenate(pair, 1) for pair in ((ring.keys, k), (ring.values, v)))
    return new, held, keys, values


def _attended(
    ring: RingArrays, q: Array, asked: Array, held: Array, keys: Array, values: Array, **do: Any
) -> Array:
    """Attend to what was gathered, and ``then`` write a chunk."""
    out = attend_at(asked, q, held, keys, values, ring.window, do.get("sinks", ring.sinks))
    if "then" in do:
        place(ring, *do["then"])
    return out


def _gathering(change: Callable[[RingArrays, Array, Array, Array, Array], Seen]) -> Step:
    """Make a mutant that gathers something else; it attends and writes as it should."""

    def mutant(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
        return _attended(ring, q, *change(ring, *_both(ring, k, v)), then=(k, v))

    return mutant


def _written_first(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked = np.arange(ring.seen, ring.seen + k.shape[1])
    place(ring, k, v)
    return _attended(ring, q, asked, ring.positions, ring.keys, ring.values)


def _twice(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked = np.arange(ring.seen, ring.seen + k.shape[1])
    place(ring, k, v)
    held = np.concatenate([ring.positions, asked])
    keys, values = (np.concatenate(pair, 1) for pair in ((ring.keys, k), (ring.values, v)))
    return _attended(ring, q, asked, held, keys, values)


def _seen_moved(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked, held, keys, values = _both(ring, k, v)
    place(ring, k, v)
    return _attended(ring, q, asked + k.shape[1], held, keys, values)


def _all_after(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    place(ring, k, v)
    return _attended(ring, q, *_both(ring, k, v))


def _last_only(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    return step(ring, q, k, v)[:, -1:]


def _not_written(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    return _attended(ring, q, *_both(ring, k, v))


def _no_return(ring: RingArrays, q: Array, k: Array, v: Array) -> None:
    step(ring, q, k, v)


def _written_twice(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    out = step(ring, q, k, v)
    place(ring, k, v)
    return out


def _no_sinks(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    return _attended(ring, q, *_both(ring, k, v), then=(k, v), sinks=0)


def _window_is_slots(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked, held, keys, values = _both(ring, k, v)
    out = attend_at(asked, q, held, keys, values, ring.slots, ring.sinks)
    place(ring, k, v)
    return out


def _values_from_keys(ring: RingArrays, asked: Array, held: Array, keys: Array, _: Array) -> Seen:
    return asked, held, keys, keys


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
            out = plain(call(answer.step, ring, q, k, v, may_change=(0,)))
            shown |= _rows(out, first, heads, n)
            shown[f"seen after the chunk at {first}"] = ring.seen
            shown[f"positions after the chunk at {first}"] = plain(ring.positions)
        return {**shown, "keys": ring.keys, "values": ring.values}

    sizes = f"window {window}, sinks {sinks}, slack {slack}, {heads} heads over {kv_heads}"
    back = f", {taken} more taken back" if taken else ""
    return Case(f"{sizes}; {seen} tokens{back}, then chunks of {chunks}", run)


def _rows(out: Any, first: int, heads: int, n: int) -> dict[str, Any]:
    """Give an output row by row, each with all its heads, or what is wrong with its shape."""
    shape, part = [], out
    while isinstance(part, list):
        shape.append(len(part))
        part = part[0] if part else None
    if shape != [heads, n, 2]:
        return {f"shape for the chunk at {first}": shape if shape else out}
    rows = {f"output at {first + row}": [out[h][row] for h in range(heads)] for row in range(n)}
    return {f"shape for the chunk at {first}": shape, **rows}


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
            answers(step=_written_first),
        ),
        Mutant(
            "twice",
            "the chunk is written first and then stands beside the ring as well: its tokens are "
            "counted twice, and older keys are gone",
            answers(step=_twice),
        ),
        Mutant(
            "all-after",
            "everything is read after writing, `ring.seen` too: the rows ask from positions n too "
            "far on. Gather, attend, and write last",
            answers(step=_all_after),
        ),
        Mutant(
            "seen-moved",
            "`ring.seen` is read after writing: it has moved on by n, and the rows ask from too "
            "far on",
            answers(step=_seen_moved),
        ),
        Mutant(
            "chunk-only",
            "the chunk attends to itself alone: the ring before it belongs to its windows, too",
            answers(
                step=_gathering(
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
                step=_gathering(
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
                step=_gathering(
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
                step=_gathering(lambda ring, asked, *rest: (np.full_like(asked, asked[-1]), *rest))
            ),
        ),
        Mutant(
            "from-zero",
            "the rows ask from 0, 1, ...: the first token of the chunk is at `ring.seen`",
            answers(step=_gathering(lambda ring, asked, *rest: (asked - asked[0], *rest))),
        ),
        Mutant(
            "values-from-keys",
            "keys stand where the values belong",
            answers(step=_gathering(_values_from_keys)),
        ),
        Mutant(
            "last-only",
            "only the last row is returned: prefill needs every row, and so does a check of drafts",
            answers(step=_last_only),
        ),
        Mutant(
            "not-written",
            "the chunk is never written: the next token does not find it",
            answers(step=_not_written),
        ),
        Mutant(
            "written-twice",
            "the chunk is written twice: `seen` counts its tokens two times",
            answers(step=_written_twice),
        ),
        Mutant(
            "no-sinks",
            "the sinks are left out of what the rows see: pass `ring.sinks`",
            answers(step=_no_sinks),
        ),
        Mutant(
            "window-is-slots",
            "the number of slots is taken for the window: slack and sinks are no part of it",
            answers(step=_window_is_slots),
        ),
        Mutant("no-return", "the outputs are not returned", answers(step=_no_return)),
    ),
)
