"""Lesson 11: fewer bits before fewer tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from ..duel.memory import Entry, Memory
from .lesson_11_common import after, bound
from .model import Case, Exercise, Mutant, answers

__all__ = ["BITS"]

Order = Callable[[Sequence[Entry]], Sequence[Entry]]


def fewer_bits(memory: Memory) -> None:
    """Round the oldest to 8 bits, then to 4, then drop the oldest; the newest stays as it is."""
    _fewer(memory)


def _older(entries: Sequence[Entry]) -> Sequence[Entry]:
    return entries[:-1]


def _wider(memory: Memory, rounds: Sequence[int], order: Order) -> Iterator[tuple[Entry, int]]:
    for bits in rounds:
        for entry in order(memory.entries):
            if entry.bits > bits:
                yield entry, bits


def _fewer(
    memory: Memory,
    rounds: Sequence[int] = (8, 4),
    order: Order = _older,
    victim: Callable[[Sequence[Entry]], Entry] = lambda entries: entries[0],
    full: Callable[[Memory], bool] = lambda memory: memory.used > memory.budget,
) -> None:
    while full(memory):
        found = next(_wider(memory, rounds, order), None)
        if found:
            memory.shrink(*found)
        else:
            memory.drop(victim(memory.entries))


def _with(**parts: Any) -> dict[str, Any]:
    return answers(fewer_bits=lambda memory: _fewer(memory, **parts))


def _each_to_the_end(memory: Memory) -> None:
    """Take the oldest down to 4 bits before the next one is touched."""
    while memory.used > memory.budget:
        wide = [entry for entry in memory.entries[:-1] if entry.bits > 4]
        if wide:
            memory.shrink(wide[0], 8 if wide[0].bits == 32 else 4)
        else:
            memory.drop(memory.entries[0])


def _all_at_once(memory: Memory) -> None:
    for bits in (8, 4):
        if memory.used > memory.budget:
            for entry in memory.entries[:-1]:
                if entry.bits > bits:
                    memory.shrink(entry, bits)
    while memory.used > memory.budget:
        memory.drop(memory.entries[0])


def _stops_at_four(memory: Memory) -> None:
    for entry, bits in list(_wider(memory, (8, 4), _older)):
        if memory.used > memory.budget:
            memory.shrink(entry, bits)


def _cases(rng: Random) -> list[Case]:
    """Draw (tokens, budget)."""
    runs = [(5, 5 * 260), (5, 4 * 260), (5, 3 * 260), (5, 600), (5, 500), (6, 480), (7, 470)]
    runs += [(8, 420), (9, 560), (2, 300), (6, 5 * 76 + 260), (6, 5 * 44 + 260), (7, 5 * 44 + 260)]
    tokens = rng.randrange(5, 9)
    runs += [(tokens, rng.randrange(300, 260 * tokens)), (tokens, 260 + 44 * rng.randrange(1, 4))]
    return [
        after(
            f'rng = draw({seed}, "du4"); memory = drawn_memory(rng, {tokens}, {budget}); '
            "fewer_bits(memory)",
            "fewer_bits",
            bound,
        )
        for seed, (tokens, budget) in enumerate(runs)
    ]


BITS = Exercise(
    id="du4-bits",
    names=("fewer_bits",),
    cases=_cases,
    reference=answers(fewer_bits),
    mutants=(
        Mutant(
            "drops-at-once",
            "tokens are dropped, none is rounded: 8 bits hold three for the price of one",
            _with(rounds=()),
        ),
        Mutant(
            "no-four",
            "tokens are dropped before the others have 4 bits",
            _with(rounds=(8,)),
        ),
        Mutant(
            "straight-to-four",
            "tokens go straight to 4 bits, though 8 might have been enough",
            _with(rounds=(4,)),
        ),
        Mutant(
            "each-to-the-end",
            "the oldest goes down to 4 bits before the next one has 8: first all to 8",
            answers(fewer_bits=_each_to_the_end),
        ),
        Mutant(
            "all-at-once",
            "all tokens are rounded together: only as many as the budget asks for, oldest first",
            answers(fewer_bits=_all_at_once),
        ),
        Mutant(
            "newest-rounded",
            "the newest token is rounded, too: it stays exact, since it is asked for most",
            _with(order=lambda entries: entries),
        ),
        Mutant(
            "newest-first",
            "the newest are rounded first: the oldest are",
            _with(order=lambda entries: entries[-2::-1]),
        ),
        Mutant(
            "drops-the-newest",
            "where all have 4 bits the newest but one goes: the oldest does",
            _with(victim=lambda entries: entries[-2]),
        ),
        Mutant(
            "to-spare",
            "a memory that is exactly full is taken for too full",
            _with(full=lambda memory: memory.used >= memory.budget),
        ),
        Mutant(
            "never-drops",
            "nothing is dropped when all have 4 bits and it still does not fit",
            answers(fewer_bits=_stops_at_four),
        ),
    ),
)
