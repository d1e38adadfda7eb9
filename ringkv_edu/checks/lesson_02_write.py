"""Lesson 02: writing one token into the arrays of a ring."""

from __future__ import annotations

from random import Random
from typing import Any

from ..given_numpy import RingArrays
from . import lesson_02_write_mistakes as wrong
from .code_case import GIVEN, code_case
from .lesson_02_write_mistakes import write
from .model import Case, Exercise, Mutant, answers

__all__ = ["WRITE"]


class _Held(RingArrays):
    """A ring that remembers the arrays it was made with."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.at_first = self.keys, self.values, self.positions


def _write_cases(rng: Random) -> list[Case]:
    runs = [(4, 1, 2, 1), (4, 2, 3, 3), (4, 2, 3, 4), (4, 2, 3, 5), (4, 2, 3, 10), (1, 2, 2, 3)]
    runs += [(3, 3, 2, 11), (rng.randrange(5, 8), 2, 3, rng.randrange(16, 30))]
    return [_write_case(rng.randrange(1000), *run) for run in runs]


def _write_case(seed: int, window: int, kv_heads: int, head_dim: int, tokens: int) -> Case:
    one = f"numbers(rng, {kv_heads}, {head_dim})"
    line = (
        f'rng = draw({seed}, "np2"); ring = RingArrays({window}, {kv_heads}, {head_dim}); '
        f"[write(ring, {one}, {one}) for _ in range({tokens})]"
    )

    def look(space: dict[str, Any]) -> dict[str, Any]:
        ring = space["ring"]
        now = (ring.keys, ring.values, ring.positions)
        return {
            "positions": ring.positions,
            "seen": ring.seen,
            "keys": ring.keys,
            "values": ring.values,
            "keys, values, positions are all the arrays made at the start": all(
                one is other for one, other in zip(now, ring.at_first, strict=True)
            ),
        }

    return code_case(line, "write", look, may_change=(0,), given=GIVEN | {"RingArrays": _Held})


WRITE = Exercise(
    id="np2-write",
    names=("write",),
    cases=_write_cases,
    reference=answers(write),
    mutants=(
        Mutant("no-modulo", wrong.PAST_THE_END, wrong.write_at(lambda ring: ring.seen)),
        Mutant(
            "no-modulo-positions",
            wrong.PAST_THE_END,
            answers(write=wrong.no_modulo_positions_first),
        ),
        Mutant(
            "modulo-heads",
            "the modulo is taken by the number of heads, which is what len(ring.keys) gives: the "
            "ring has ring.window slots",
            wrong.write_at(lambda ring: ring.seen % len(ring.keys)),
        ),
        Mutant(
            "newest-overwritten",
            "a full ring writes over its newest token, again and again, where the oldest should go",
            wrong.write_at(lambda ring: min(ring.seen, ring.window - 1)),
        ),
        Mutant("shifted", wrong.SHIFTS, wrong.shifting(at_once=False, anew=False)),
        Mutant("shifted-anew", wrong.SHIFTS, wrong.shifting(at_once=False, anew=True)),
        Mutant("shifted-at-once", wrong.SHIFTS, wrong.shifting(at_once=True, anew=False)),
        Mutant("shifted-at-once-anew", wrong.SHIFTS, wrong.shifting(at_once=True, anew=True)),
        Mutant("newest-first", wrong.SHIFTS, wrong.newest_first(anew=False)),
        Mutant("newest-first-anew", wrong.SHIFTS, wrong.newest_first(anew=True)),
        Mutant("anew", wrong.ANEW, answers(write=wrong.anew)),  # all three or some of them
        Mutant(
            "grows",
            "the token is put behind the others, so the storage grows with every token",
            answers(write=wrong.growing),
        ),
        Mutant(
            "not-counted",
            "seen is not raised: every token goes to slot 0 and says that it is position 0",
            wrong.write_at(after=wrong.uncount),
        ),
        Mutant(
            "seen-wraps",
            "seen begins again at 0 when the ring is full: it counts all tokens, so that it is the "
            "next position; only the slot wraps",
            wrong.write_at(after=wrong.seen_wraps),
        ),
        Mutant(
            "seen-capped",
            "seen stops at window: it counts all tokens, and the slot and the position follow it",
            wrong.write_at(after=wrong.cap),
        ),
        Mutant(
            "slot-as-position",
            "the slot is stored where the position belongs: they are the same only in the first "
            "round",
            wrong.write_at(position_of=lambda ring, slot: slot),
        ),
        Mutant(
            "counted-first",
            "seen is raised before it is used: the first token is position 0, in slot 0",
            answers(write=wrong.counted_first),
        ),
        Mutant(
            "position-one-more",
            "the position is one too large: store seen before it is raised",
            wrong.write_at(position_of=lambda ring, slot: ring.seen + 1),
        ),
        Mutant(
            "first-head",
            "only head 0 is written: a token has a key and a value in every head",
            answers(write=wrong.first_head_only),
        ),
        Mutant(
            "slot-as-first-axis",
            "the slot is used on the first axis, which is the heads: write keys[:, slot]",
            answers(write=wrong.slot_as_first_axis),
        ),
        Mutant(
            "slot-as-last-axis",
            "the slot is used on the last axis, which holds the numbers of one vector: write "
            "keys[:, slot]",
            answers(write=wrong.slot_as_last_axis),
        ),
        Mutant(
            "replaced",
            "the token replaces the whole array: write into its slot, ring.keys[:, slot] = k",
            answers(write=wrong.replacing),
        ),
        Mutant(
            "one-off",
            "writing starts at slot 1: position 0 lives in slot 0",
            wrong.write_at(lambda ring: (ring.seen + 1) % ring.window),
        ),
        Mutant(
            "last-slot-first",
            "writing starts at the last slot: position 0 lives in slot 0",
            wrong.write_at(lambda ring: (ring.seen - 1) % ring.window),
        ),
        Mutant(
            "swapped",
            "keys and values are swapped",
            answers(write=lambda ring, k, v: write(ring, v, k)),
        ),
        Mutant(
            "added",
            "the new token is added to what lay in the slot: it takes its place",
            answers(write=wrong.adding),
        ),
        Mutant(
            "key-as-value", "the key is stored as the value, too", answers(write=wrong.key_as_value)
        ),
        Mutant("no-value", "the value is not stored", answers(write=wrong.no_value)),
        Mutant(
            "no-position",
            "the position is not stored: the slot still says that it is empty",
            wrong.write_at(after=wrong.undo_position),
        ),
        Mutant(
            "stops-when-full",
            "a full ring takes no more tokens: the newest goes over the oldest",
            answers(write=wrong.only_once_full),
        ),
    ),
)
