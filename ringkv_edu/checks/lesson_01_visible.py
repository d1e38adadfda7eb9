"""Lesson 01: reading the ring in order of time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from ..given import Entry, RingFields, filled_ring
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["VISIBLE"]

# ex03-visible: oldest to newest


def visible(ring: RingFields) -> list[Entry]:
    """Give the stored tokens, oldest write first."""
    oldest = ring.num_writes - ring.size
    return _entries(ring, [w % ring.window_size for w in range(oldest, ring.num_writes)])


def _entries(ring: RingFields, slots: list[int]) -> list[Entry]:
    return [
        Entry(ring.keys[s], ring.values[s], ring.positions[s], ring.insert_count[s], s)  # type: ignore[arg-type]
        for s in slots
    ]


def _used(ring: RingFields) -> list[int]:
    return [slot for slot, write in enumerate(ring.insert_count) if write >= 0]


def _from_head(ring: RingFields) -> list[Entry]:
    return _entries(ring, [(ring.head + i) % ring.window_size for i in range(ring.size)])


def _visible_cases(rng: Random) -> list[Case]:
    runs = [
        (4, range(0)),
        (4, range(1)),
        (4, range(3)),
        (4, range(4)),
        (4, range(5)),
        (4, range(10)),
    ]
    runs += [(1, range(6)), (rng.randrange(3, 7), range(0, 45, 3))]
    restart = [*range(6), *range(2)]  # a second conversation starts at position 0 again
    return [_visible_case(rng, w, list(p)) for w, p in runs] + [_visible_case(rng, 4, restart)]


def _visible_case(rng: Random, window: int, positions: list[int]) -> Case:
    seed = rng.random()

    def run(answer: Answer) -> dict[str, Any]:
        given = call(answer.visible, filled_ring(window, positions, Random(seed)))
        many = isinstance(given, list | tuple | Iterator) and not isinstance(given, Entry)
        entries = list(given) if many else [given]
        if not many or not all(isinstance(entry, Entry) for entry in entries):
            return {"result": entries if many else given}
        fields = ("position", "insert_seq", "physical_slot", "key", "value")
        return {f"{f} of each entry": [getattr(e, f, None) for e in entries] for f in fields}

    held = positions[-window:]
    return Case(f"window {window}, {len(positions)} writes, the last at positions {held}", run)


VISIBLE = Exercise(
    id="ex03-visible",
    names=("visible",),
    cases=_visible_cases,
    reference=answers(visible),
    mutants=(
        Mutant(
            "slot-order",
            "the order of slots is given as the order of time",
            answers(visible=lambda ring: _entries(ring, _used(ring))),
        ),
        Mutant(
            "newest-first",
            "the newest token comes first: turn the order round",
            answers(visible=lambda ring: visible(ring)[::-1]),
        ),
        Mutant(
            "empty-slots",
            "empty slots are given as if they held tokens",
            answers(
                visible=lambda ring: _entries(
                    ring, [(ring.head + i) % ring.window_size for i in range(ring.window_size)]
                )
            ),
        ),
        Mutant(
            "from-head",
            "reading starts at head even when the ring is not full: head is then "
            "the first empty slot, not the oldest token",
            answers(visible=_from_head),
        ),
        Mutant(
            "by-position",
            "tokens are ordered by position: a second conversation starts at 0 "
            "again, and the order of time is the order of writing",
            answers(visible=lambda ring: sorted(visible(ring), key=lambda e: e.position)),
        ),
        Mutant(
            "one-short",
            "the oldest token that is still stored is left out",
            answers(visible=lambda ring: visible(ring)[1:]),
        ),
    ),
)
