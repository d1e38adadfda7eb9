"""Lesson 01: which slot is next, and writing the ring."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given import RingFields, token
from .compare import plain
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["APPEND", "PREDICT", "fields"]

Append = Callable[[RingFields, list[float], list[float], int], Any]

# predict01: after thirteen tokens in a ring of five


def _predict_cases(rng: Random) -> list[Case]:
    return [
        Case("next_slot, after 13 tokens in 5 slots", lambda a: {"next_slot": a.next_slot}),
        Case(
            "still_there, after 13 tokens in 5 slots",
            lambda a: {"still_there": _sorted(a.still_there)},
        ),
    ]


def _sorted(values: Any) -> Any:
    """Put whole numbers in order, whatever holds them; leave anything else as it is."""
    found = plain(sorted(values) if isinstance(values, set | frozenset) else values)
    ordered = isinstance(found, list) and all(isinstance(value, int | float) for value in found)
    return sorted(found) if ordered else found


PREDICT = Exercise(
    id="predict01",
    names=("next_slot", "still_there"),
    cases=_predict_cases,
    reference=answers(next_slot=3, still_there=[8, 9, 10, 11, 12]),
    mutants=(
        Mutant(
            "last-slot",
            "the slot that was written last is named, not the next one",
            answers(next_slot=2),
        ),
        Mutant(
            "never-wraps",
            "the write number is taken as the slot: there are only slots 0 to 4",
            answers(next_slot=13),
        ),
        Mutant(
            "restarts",
            "every write to a full ring is thought to go to slot 0",
            answers(next_slot=0),
        ),
        Mutant(
            "oldest-kept",
            "these are the slots, or the first five positions: the oldest tokens are overwritten",
            answers(still_there=[0, 1, 2, 3, 4]),
        ),
        Mutant(
            "counts-from-one",
            "tokens are counted from 1: 13 tokens have positions 0 to 12",
            answers(still_there=[9, 10, 11, 12, 13]),
        ),
        Mutant(
            "not-itself",
            "the newest token is left out of its own window",
            answers(still_there=[7, 8, 9, 10, 11]),
        ),
    ),
)

# ex02-append: the ring's two-line write


def append(ring: RingFields, key: list[float], value: list[float], position: int) -> int:
    """Write number n goes to slot n % window_size."""
    slot = ring.num_writes % ring.window_size
    ring.keys[slot], ring.values[slot] = list(key), list(value)
    ring.positions[slot], ring.insert_count[slot] = position, ring.num_writes
    ring.num_writes += 1
    ring.head = ring.num_writes % ring.window_size
    ring.size = min(ring.size + 1, ring.window_size)
    return slot


def _append_at(
    slot_of: Callable[[RingFields, int], int], after: Callable[[RingFields], None] | None = None
) -> Append:
    """Make a mutant of ``append``: another slot, or something undone afterwards."""

    def mutant(ring: RingFields, key: list[float], value: list[float], position: int) -> int:
        slot = slot_of(ring, position)
        ring.keys[slot], ring.values[slot] = list(key), list(value)
        ring.positions[slot], ring.insert_count[slot] = position, ring.num_writes
        ring.num_writes += 1
        ring.head = ring.num_writes % ring.window_size
        ring.size = min(ring.size + 1, ring.window_size)
        if after:
            after(ring)
        return slot

    return mutant


def _right_slot(ring: RingFields, position: int) -> int:
    return ring.num_writes % ring.window_size


def _by_reference(*kept: str) -> Append:
    def mutant(ring: RingFields, key: list[float], value: list[float], position: int) -> int:
        slot = append(ring, key, value, position)
        for name in kept:
            getattr(ring, name)[slot] = key if name == "keys" else value
        return slot

    return mutant


def _no_return(ring: RingFields, key: list[float], value: list[float], position: int) -> None:
    append(ring, key, value, position)


def _size_uncapped(ring: RingFields) -> None:
    ring.size = ring.num_writes


def _head_unmoved(ring: RingFields) -> None:
    ring.head = (ring.num_writes - 1) % ring.window_size


def _head_unwrapped(ring: RingFields) -> None:
    ring.head = ring.num_writes


def _position_as_write(ring: RingFields) -> None:
    slot = (ring.num_writes - 1) % ring.window_size
    ring.insert_count[slot] = ring.positions[slot]


def _counts_from_one(ring: RingFields) -> None:
    ring.insert_count[(ring.num_writes - 1) % ring.window_size] = ring.num_writes


def _append_cases(rng: Random) -> list[Case]:
    runs = [(4, range(1)), (4, range(4)), (4, range(5)), (4, range(10)), (1, range(3))]
    runs += [(3, range(100, 107)), (4, range(0, 24, 2))]
    runs += [(rng.randrange(2, 7), range(rng.randrange(9), 99, rng.randrange(2, 5))[:15])]
    return [_append_case(rng, window, list(positions)) for window, positions in runs]


def _append_case(rng: Random, window: int, positions: list[int]) -> Case:
    pairs = [token(rng) for _ in positions]

    def run(answer: Answer) -> dict[str, Any]:
        ring = RingFields(window)
        key, value = [0.0, 0.0], [0.0, 0.0]  # the caller's own lists, used again each time
        slots = []
        for position, (new_key, new_value) in zip(positions, pairs, strict=True):
            key[:], value[:] = new_key, new_value
            slots.append(call(answer.append, ring, key, value, position, may_change=(0,)))
        return {"returned slots": slots, **fields(ring)}

    span = (
        f"{positions[0]}"
        if len(positions) == 1
        else f"{positions[0]}, {positions[1]}, ... {positions[-1]}"
    )
    return Case(f"window {window}, positions {span}", run)


APPEND = Exercise(
    id="ex02-append",
    names=("append",),
    cases=_append_cases,
    reference=answers(append),
    mutants=(
        Mutant(
            "no-modulo",
            "the modulo is forgotten: the slot runs past the end of the ring",
            answers(append=_append_at(lambda ring, position: ring.num_writes)),
        ),
        Mutant(
            "newest-overwritten",
            "a full ring writes over its newest token, again and again, where the oldest should go",
            answers(
                append=_append_at(lambda ring, position: min(ring.num_writes, ring.window_size - 1))
            ),
        ),
        Mutant(
            "slot-from-position",
            "the slot is taken from the position: when positions have "
            "gaps, tokens that are still wanted are overwritten",
            answers(append=_append_at(lambda ring, position: position % ring.window_size)),
        ),
        Mutant(
            "one-off",
            "writing starts at slot 1: write number 0 goes to slot 0",
            answers(
                append=_append_at(lambda ring, position: (ring.num_writes + 1) % ring.window_size)
            ),
        ),
        Mutant(
            "size-uncapped",
            "size is never capped: a ring of W slots cannot hold more than W",
            answers(append=_append_at(_right_slot, _size_uncapped)),
        ),
        Mutant(
            "head-unmoved",
            "head names the slot just written, not the next one",
            answers(append=_append_at(_right_slot, _head_unmoved)),
        ),
        Mutant(
            "head-unwrapped",
            "head runs past the last slot: it wraps as the slot does",
            answers(append=_append_at(_right_slot, _head_unwrapped)),
        ),
        Mutant(
            "counts-from-one",
            "insert_count is one too large: store num_writes before it is raised",
            answers(append=_append_at(_right_slot, _counts_from_one)),
        ),
        Mutant(
            "by-reference",
            "the caller's own list is kept: when the caller uses it again, the "
            "past changes. Store list(key) and list(value)",
            answers(append=_by_reference("keys", "values")),
        ),
        Mutant(
            "position-as-write",
            "the position is stored in insert_count: that is the write's number",
            answers(append=_append_at(_right_slot, _position_as_write)),
        ),
        Mutant(
            "key-by-reference",
            "the key is the caller's own list: when the caller uses it again, the past changes",
            answers(append=_by_reference("keys")),
        ),
        Mutant(
            "value-by-reference",
            "the value is the caller's own list: when the caller uses it again, the past changes",
            answers(append=_by_reference("values")),
        ),
        Mutant("no-return", "the slot is not returned", answers(append=_no_return)),
    ),
)


def fields(ring: RingFields) -> dict[str, Any]:
    """Give everything a ring holds but its size."""
    names = ("positions", "insert_count", "keys", "values", "head", "size", "num_writes")
    return {name: getattr(ring, name) for name in names}
