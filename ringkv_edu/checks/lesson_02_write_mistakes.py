"""Lesson 02: writes that real people write, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..given_numpy import RingArrays
from .lesson_02_attention import Array
from .model import answers

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


def write_at(
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


def shifting(at_once: bool, anew: bool) -> dict[str, Any]:
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


def anew(ring: RingArrays, k: Array, v: Array) -> None:
    ring.keys, ring.values = ring.keys.copy(), ring.values.copy()
    ring.positions = ring.positions.copy()
    write(ring, k, v)


def growing(ring: RingArrays, k: Array, v: Array) -> None:
    ring.keys = np.concatenate([ring.keys, k[:, None]], axis=1)
    ring.values = np.concatenate([ring.values, v[:, None]], axis=1)
    ring.positions = np.append(ring.positions, ring.seen)
    ring.seen += 1


def no_modulo_positions_first(ring: RingArrays, k: Array, v: Array) -> None:
    ring.positions[ring.seen] = ring.seen
    write(ring, k, v)


def counted_first(ring: RingArrays, k: Array, v: Array) -> None:
    ring.seen += 1
    slot = ring.seen % ring.window
    ring.keys[:, slot], ring.values[:, slot], ring.positions[slot] = k, v, ring.seen


def newest_first(anew: bool) -> dict[str, Any]:
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


def replacing(ring: RingArrays, k: Array, v: Array) -> None:
    ring.keys, ring.values = k, v
    ring.positions[ring.seen % ring.window] = ring.seen
    ring.seen += 1


def slot_as_last_axis(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[:, :, slot] = k
    ring.values[:, :, slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1


def first_head_only(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[0, slot], ring.values[0, slot] = k[0], v[0]
    ring.positions[slot] = ring.seen
    ring.seen += 1


def slot_as_first_axis(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    ring.keys[slot] = k
    ring.values[slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1


def key_as_value(ring: RingArrays, k: Array, v: Array) -> None:
    write(ring, k, k)


def no_value(ring: RingArrays, k: Array, v: Array) -> None:
    write(ring, k, ring.values[:, ring.seen % ring.window])


def adding(ring: RingArrays, k: Array, v: Array) -> None:
    slot = ring.seen % ring.window
    write(ring, ring.keys[:, slot] + k, ring.values[:, slot] + v)


def only_once_full(ring: RingArrays, k: Array, v: Array) -> None:
    if ring.seen < ring.window:
        write(ring, k, v)


def undo_position(ring: RingArrays) -> None:
    ring.positions[(ring.seen - 1) % ring.window] = -1


def seen_wraps(ring: RingArrays) -> None:
    ring.seen %= ring.window


def uncount(ring: RingArrays) -> None:
    ring.seen -= 1


def cap(ring: RingArrays) -> None:
    ring.seen = min(ring.seen, ring.window)
