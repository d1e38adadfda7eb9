"""Lesson 02: writing one token into the arrays of a ring."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from ..given_numpy import RingArrays
from .lesson_02_common import GIVEN, Array, code_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["WRITE"]

SHIFTS = (
    "everything moves one place for each token, as in a buffer that shifts: what is stored is "
    "right, but each write moves the whole window. Position p lives in slot p % window"
)
PAST_THE_END = "the modulo is forgotten: the slot runs past the end of the ring"
ANEW = (
    "the ring gets new arrays: whoever holds the old ones no longer sees what is written, and "
    "each write copies everything"
)


def write(ring: RingArrays, k: Array, v: Array) -> None:
    """Put the token at position ``seen`` into slot ``seen % window``."""
    slot = ring.seen % ring.window
    ring.keys[:, slot], ring.values[:, slot] = k, v
    ring.positions[slot] = ring.seen
    ring.seen += 1


def _write_at(
    slot_of: Callable[[RingArrays], int] = lambda ring: ring.seen % ring.window,
    position_of: Callable[[RingArrays, int], int] = lambda ring, slot: ring.seen,
    after: Callable[[RingArrays], None] = lambda ring: None,
) -> dict[str, Any]:
    """Make a mutant: another slot, another position, or something done afterwards."""

    def mutant(ring: RingArrays, k: Array, v: Array) -> None:
        slot = slot_of(ring)
        ring.keys[:, slot], ring.values[:, slot] = k, v
        ring.positions[slot] = position_of(ring, slot)
        ring.seen += 1
        after(ring)

    return answers(write=mutant)


def _shifting(at_once: bool, anew: bool) -> dict[str, Any]:
    """Shift left, from the first token on or when the ring is full; in place or into new arrays."""

    def mutant(ring: RingArrays, k: Array, v: Array) -> None:
        full = at_once or ring.seen >= ring.window
        place = ring.window - 1 if full else ring.seen
        for name, new in (("keys", k), ("values", v), ("positions", ring.seen)):
            old = getattr(ring, name)
            axis = 0 if name == "positions" else 1
            moved = np.roll(old, -1 if full else 0, axis)
            np.moveaxis(moved, axis, 0)[place] = new
            if anew and full:
                setattr(ring, name, moved)
            else:
                old[...] = moved
        ring.seen += 1

    return answers(write=mutant)


def _anew(ring: RingArrays, k: Array, v: Array) -> None:
    ring.keys, ring.values = ring.keys.copy(), ring.values.copy()
    ring.positions = ring.positions.copy()
    write(ring, k, v)


def _growing(ring: RingArrays, k: Array, v: Array) -> None:
    ring.keys = np.concatenate([ring.keys, k[:, None]], axis=1)
    ring.values = np.concatenate([ring.values, v[:, None]], axis=1)
    ring.positions = np.append(ring.positions, ring.seen)
    ring.seen += 1


def _no_modulo_positions_first(ring: RingArrays, k: Array, v: Array) -> None:
    ring.positions[ring.seen] = ring.seen
    write(ring, k, v)


def _counted_first(ring: RingArrays, k: Array, v: Array) -> None:
    ring.seen += 1
    slot = ring.seen % ring.window
    ring.keys[:, slot], ring.values[:, slot], ring.positions[slot] = k, v, ring.seen


def _newest_first(anew: bool) -> dict[str, Any]:
    """Shift right, and write into slot 0."""

    def mutant(ring: RingArrays, k: Array, v: Array) -> None:
        for name, new in (("keys", k), ("values", v), ("positions", ring.seen)):
            old = getattr(ring, name)
            axis = 0 if name == "positions" else 1
            moved = np.roll(old, 1, axis)
            np.moveaxis(moved, axis, 0)[0] = new
            if anew:
                setattr(ring, name, moved)
            else:
                old[...] = moved
        ring.seen += 1

    return answers(write=mutant)


def _replacing(ring: RingArrays, k: Array, v: Array) -> None:
    ring.keys, ring.values = k, v
    ring.positions[ring.seen % ring.window] = ring.seen
    ring.seen += 1


def _slot_as_last_axis(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[:, :, slot] = k
    ring.values[:, :, slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1


def _first_head_only(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[0, slot], ring.values[0, slot] = k[0], v[0]
    ring.positions[slot] = ring.seen
    ring.seen += 1


def _slot_as_first_axis(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[slot] = k
    ring.values[slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1


def _key_as_value(ring: RingArrays, k: Array, v: Array) -> None:
    write(ring, k, k)


def _no_value(ring: RingArrays, k: Array, v: Array) -> None:
    write(ring, k, ring.values[:, ring.seen % ring.window])


def _adding(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    write(ring, ring.keys[:, slot] + k, ring.values[:, slot] + v)


def _only_once_full(ring: RingArrays, k: Array, v: Array) -> None:
    if ring.seen < ring.window:
        write(ring, k, v)


def _undo_position(ring: RingArrays) -> None:
    ring.positions[(ring.seen - 1) % ring.window] = -1


def _seen_wraps(ring: RingArrays) -> None:
    ring.seen %= ring.window


def _uncount(ring: RingArrays) -> None:
    ring.seen -= 1


def _cap(ring: RingArrays) -> None:
    ring.seen = min(ring.seen, ring.window)


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
            "keys, values, positions are the arrays of before": [
                one is other for one, other in zip(now, ring.at_first, strict=True)
            ],
        }

    return code_case(line, "write", look, may_change=(0,), given=GIVEN | {"RingArrays": _Held})


WRITE = Exercise(
    id="np2-write",
    names=("write",),
    cases=_write_cases,
    reference=answers(write),
    mutants=(
        Mutant("no-modulo", PAST_THE_END, _write_at(lambda ring: ring.seen)),
        Mutant("no-modulo-positions", PAST_THE_END, answers(write=_no_modulo_positions_first)),
        Mutant(
            "modulo-heads",
            "the modulo is taken by the number of heads, which is what len(ring.keys) gives: the "
            "ring has ring.window slots",
            _write_at(lambda ring: ring.seen % len(ring.keys)),
        ),
        Mutant(
            "newest-overwritten",
            "a full ring writes over its newest token, again and again, where the oldest should go",
            _write_at(lambda ring: min(ring.seen, ring.window - 1)),
        ),
        Mutant("shifted", SHIFTS, _shifting(at_once=False, anew=False)),
        Mutant("shifted-anew", SHIFTS, _shifting(at_once=False, anew=True)),
        Mutant("shifted-at-once", SHIFTS, _shifting(at_once=True, anew=False)),
        Mutant("shifted-at-once-anew", SHIFTS, _shifting(at_once=True, anew=True)),
        Mutant("newest-first", SHIFTS, _newest_first(anew=False)),
        Mutant("newest-first-anew", SHIFTS, _newest_first(anew=True)),
        Mutant("anew", ANEW, answers(write=_anew)),
        Mutant(
            "grows",
            "the token is put behind the others, so the storage grows with every token",
            answers(write=_growing),
        ),
        Mutant(
            "not-counted",
            "seen is not raised: every token goes to slot 0 and says that it is position 0",
            _write_at(after=_uncount),
        ),
        Mutant(
            "seen-wraps",
            "seen begins again at 0 when the ring is full: it counts all tokens, so that it is the "
            "next position; only the slot wraps",
            _write_at(after=_seen_wraps),
        ),
        Mutant(
            "seen-capped",
            "seen stops at window: it counts all tokens, and the slot and the position follow it",
            _write_at(after=_cap),
        ),
        Mutant(
            "slot-as-position",
            "the slot is stored where the position belongs: they are the same only in the first "
            "round",
            _write_at(position_of=lambda ring, slot: slot),
        ),
        Mutant(
            "counted-first",
            "seen is raised before it is used: the first token is position 0, in slot 0",
            answers(write=_counted_first),
        ),
        Mutant(
            "position-one-more",
            "the position is one too large: store seen before it is raised",
            _write_at(position_of=lambda ring, slot: ring.seen + 1),
        ),
        Mutant(
            "first-head",
            "only head 0 is written: a token has a key and a value in every head",
            answers(write=_first_head_only),
        ),
        Mutant(
            "slot-as-first-axis",
            "the slot is used on the first axis, which is the heads: write keys[:, slot]",
            answers(write=_slot_as_first_axis),
        ),
        Mutant(
            "slot-as-last-axis",
            "the slot is used on the last axis, which holds the numbers of one vector: write "
            "keys[:, slot]",
            answers(write=_slot_as_last_axis),
        ),
        Mutant(
            "replaced",
            "the token replaces the whole array: write into its slot, ring.keys[:, slot] = k",
            answers(write=_replacing),
        ),
        Mutant(
            "one-off",
            "writing starts at slot 1: position 0 lives in slot 0",
            _write_at(lambda ring: (ring.seen + 1) % ring.window),
        ),
        Mutant(
            "last-slot-first",
            "writing starts at the last slot: position 0 lives in slot 0",
            _write_at(lambda ring: (ring.seen - 1) % ring.window),
        ),
        Mutant(
            "swapped",
            "keys and values are swapped",
            answers(write=lambda ring, k, v: write(ring, v, k)),
        ),
        Mutant(
            "added",
            "the new token is added to what lay in the slot: it takes its place",
            answers(write=_adding),
        ),
        Mutant("key-as-value", "the key is stored as the value, too", answers(write=_key_as_value)),
        Mutant("no-value", "the value is not stored", answers(write=_no_value)),
        Mutant(
            "no-position",
            "the position is not stored: the slot still says that it is empty",
            _write_at(after=_undo_position),
        ),
        Mutant(
            "stops-when-full",
            "a full ring takes no more tokens: the newest goes over the oldest",
            answers(write=_only_once_full),
        ),
    ),
)
