"""Lesson 04: turning a key once, when it is written, and reading it as it lies."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ..given_rope import turned
from . import lesson_04_write_mistakes as wrong
from .code_case import GIVEN, code_case
from .lesson_04_write_mistakes import write
from .lesson_04_write_read import READ_MUTANTS, read
from .model import Case, Exercise, Mutant, answers

__all__ = ["WRITE"]


def _write_cases(rng: Random) -> list[Case]:
    runs = [
        (4, 1, 1, 2),
        (4, 3, 1, 2),
        (4, 6, 2, 2),
        (1, 3, 1, 4),
        (3, 3 * rng.randrange(2, 7) + rng.choice([1, 2]), 2, 4),
        (rng.randrange(2, 7), rng.randrange(8, 30), 3, 2),
    ]
    rings = [
        (1, 5, 1, 4),  # one token, four slots empty
        (3, 4, 2, 2),
        (4, 4, 2, 2),  # just full
        (6, 4, 2, 2),
        (5, 1, 1, 4),
        (3 * rng.randrange(2, 7) + rng.choice([1, 2]), 3, 2, 4),
        (rng.randrange(8, 30), rng.randrange(2, 7), 3, 2),
    ]
    written = [_write_case(rng.randrange(1000), *run) for run in runs]
    return written + [_read_case(rng.randrange(1000), *ring) for ring in rings]


def _write_case(seed: int, window: int, tokens: int, heads: int, d: int) -> Case:
    one = f"numbers(rng, {heads}, {d})"
    line = (
        f'rng = draw({seed}, "rope4"); ring = RingArrays({window}, {heads}, {d}); '
        f"[write(ring, {one}, {one}) for _ in range({tokens})]"
    )

    def look(space: dict[str, Any]) -> dict[str, Any]:
        ring = space["ring"]
        seen: dict[str, Any] = {"ring.seen": ring.seen, "ring.positions": ring.positions}
        for slot in range(window):
            seen[f"value in slot {slot}, for each head"] = ring.values[:, slot]
            seen[f"key in slot {slot}, for each head"] = ring.keys[:, slot]
        return seen

    return code_case(line, "write", look, may_change=(0,))


def _read_case(seed: int, tokens: int, window: int, heads: int, d: int) -> Case:
    line = (
        f'rng = draw({seed}, "rope4"); '
        f"ring = filled_arrays({tokens}, rng, {window}, {heads}, {d}); "
        f"ring.keys = turned(ring.keys, ring.positions); "
        f"out = read(ring, numbers(rng, {heads}, {d}))"
    )
    given = {**GIVEN, "turned": turned}
    return code_case(line, "read", lambda space: {"result": space["out"]}, given=given)


WRITE = Exercise(
    id="rope4-write",
    names=("write", "read"),
    cases=_write_cases,
    reference=answers(write, read),
    mutants=(
        Mutant(
            "value-turned",
            "the value is turned, too: in a Llama-style model only queries and keys are",
            wrong.other(value_at=lambda ring: ring.seen),
        ),
        Mutant(
            "not-turned",
            "the key is stored unrotated",
            wrong.other(key_at=lambda ring: 0),
        ),
        Mutant(
            "by-slot",
            "the key is turned to its slot: right until the first wrap, wrong from then on",
            wrong.other(key_at=lambda ring: ring.seen % ring.window),
        ),
        Mutant(
            "backwards",
            "the key is turned backwards, by minus its position",
            wrong.other(key_at=lambda ring: -ring.seen),
        ),
        Mutant(
            "one-too-far",
            "the key is turned one place too far: the token being written stands at ring.seen "
            "as it was before the write",
            wrong.other(key_at=lambda ring: ring.seen + 1),
        ),
        Mutant(
            "by-rank",
            "the key is turned to its rank, which is window - 1 for every token once "
            "the ring is full: positions go on growing",
            wrong.other(key_at=lambda ring: min(ring.seen, ring.window - 1)),
        ),
        Mutant(
            "by-size",
            "the key is turned by the number of stored tokens, which stops at window: positions "
            "go on growing",
            wrong.other(key_at=lambda ring: min(ring.seen, ring.window)),
        ),
        Mutant(
            "by-head",
            "each head is turned by its own number: all heads of a token stand at one position",
            wrong.other(key_at=lambda ring: np.arange(ring.keys.shape[0])),
        ),
        Mutant(
            "all-turned",
            "the keys that were stored before are turned once more: each is turned once, "
            "when it is written",
            answers(write=wrong.all_turned),
        ),
        Mutant(
            "not-counted",
            "ring.seen is not raised: every token seems to be the first",
            answers(write=wrong.not_counted),
        ),
        Mutant(
            "seen-wraps",
            "ring.seen is wrapped, too: it counts tokens and only grows, the slot alone is modulo",
            answers(write=wrong.seen_wraps),
        ),
        Mutant(
            "never-wraps",
            "the last slot is written again and again once the ring is full: the slot is "
            "ring.seen % ring.window",
            wrong.other(slot=lambda ring: min(ring.seen, ring.window - 1)),
        ),
        Mutant(
            "slot-as-head",
            "the slot is used as the first axis, which counts heads: a slot of all heads is "
            "ring.keys[:, slot]",
            answers(write=wrong.slot_as_head),
        ),
        Mutant(
            "slot-noted",
            "the slot is noted in ring.positions where the position belongs",
            wrong.other(position=lambda ring: ring.seen % ring.window),
        ),
        Mutant(
            "position-missing",
            "ring.positions is not brought up to date: the slot still says what it held before",
            answers(
                write=lambda ring, k, v: wrong.stored(
                    ring, k, v, position=lambda r: r.positions[r.seen % r.window]
                )
            ),
        ),
        Mutant(
            "position-late",
            "the stored position is one too large: raise ring.seen only after it is used",
            wrong.other(position=lambda ring: ring.seen + 1),
        ),
        Mutant(
            "seen-first",
            "ring.seen is raised before it is used: token 0 goes to slot 1 as position 1",
            wrong.other(
                key_at=lambda ring: ring.seen + 1,
                position=lambda ring: ring.seen + 1,
                slot=lambda ring: (ring.seen + 1) % ring.window,
            ),
        ),
        Mutant(
            "raised-midway",
            "ring.seen is raised between finding the slot and using the position: key and "
            "stored position are one too far",
            wrong.other(key_at=lambda ring: ring.seen + 1, position=lambda ring: ring.seen + 1),
        ),
        Mutant(
            "in-place",
            "the turned key is written over k: the caller still needs it as it was",
            answers(write=wrong.in_place),
        ),
        Mutant(
            "first-head",
            "every head gets what head 0 should get: k and v hold one vector for each head",
            answers(write=lambda ring, k, v: wrong.stored(ring, 0 * k + k[0], 0 * v + v[0])),
        ),
        Mutant(
            "key-as-value",
            "the unrotated key is stored as the value",
            answers(write=lambda ring, k, v: wrong.stored(ring, k, k)),
        ),
        Mutant(
            "value-missing",
            "the value is not stored",
            answers(write=wrong.value_not_stored),
        ),
        *READ_MUTANTS,
    ),
)
