"""Lesson 11: a budget kept by position alone: sinks, and the newest that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from ..duel.memory import Entry, Memory
from .lesson_11_common import after, bound, looping
from .model import Case, Exercise, Mutant, answers

__all__ = ["SINKS"]

Victim = Callable[[Sequence[Entry], int], Entry]


def keep_sinks(memory: Memory, sinks: int) -> None:
    """Drop until it fits: the oldest behind the sinks first, then the newest sinks."""
    while memory.used > memory.budget:
        memory.drop(_victim(memory.entries, sinks))


def _victim(entries: Sequence[Entry], sinks: int) -> Entry:
    later = [entry for entry in entries[:-1] if entry.position >= sinks]
    return later[0] if later else entries[-2]


def _dropping(victim: Victim) -> dict[str, object]:
    return looping("keep_sinks", lambda memory, sinks: memory.drop(victim(memory.entries, sinks)))


def _once(memory: Memory, sinks: int) -> None:
    if memory.used > memory.budget:
        memory.drop(_victim(memory.entries, sinks))


def _to_spare(memory: Memory, sinks: int) -> None:
    while memory.used >= memory.budget:
        memory.drop(_victim(memory.entries, sinks))


def _by_place(entries: Sequence[Entry], sinks: int) -> Entry:
    """Take the first of the list for sinks, whatever their positions are."""
    later = entries[sinks:-1]
    return later[0] if later else entries[-2]


def _one_more(entries: Sequence[Entry], sinks: int) -> Entry:
    later = [entry for entry in entries[:-1] if entry.position > sinks]
    return later[0] if later else entries[-2]


def _newest_kept_out(entries: Sequence[Entry], sinks: int) -> Entry:
    later = [entry for entry in entries if entry.position >= sinks]
    return later[-1] if later else entries[-1]


def _second_newest(entries: Sequence[Entry], sinks: int) -> Entry:
    later = [entry for entry in entries[:-1] if entry.position >= sinks]
    return later[-1] if later else entries[-2]


def _sinks_never(entries: Sequence[Entry], sinks: int) -> Entry:
    later = [entry for entry in entries if entry.position >= sinks]
    return later[0] if later else entries[-1]


def _oldest_sink(entries: Sequence[Entry], sinks: int) -> Entry:
    later = [entry for entry in entries[:-1] if entry.position >= sinks]
    return later[0] if later else entries[0]


def _cases(rng: Random) -> list[Case]:
    """Draw (tokens, entries that fit, sinks, bytes to spare)."""
    runs = [(6, 4, 0, 0), (7, 4, 2, 0), (7, 4, 2, 100), (5, 5, 2, 0), (6, 2, 4, 0), (5, 3, 3, 0)]
    runs += [(9, 5, 1, 30), (6, 1, 3, 0)]
    fit, sinks = rng.randrange(4, 8), rng.randrange(1, 4)
    runs += [(fit + rng.randrange(2, 5), fit, sinks, rng.randrange(200)), (fit + 3, sinks, fit, 0)]
    return [
        after(
            f'rng = draw({seed}, "du1"); memory = drawn_memory(rng, {tokens}, {fit} * 260 + {more}'
            f", first={sinks}); keep_sinks(memory, {sinks})",
            "keep_sinks",
            bound,
        )
        for seed, (tokens, fit, sinks, more) in enumerate(runs)
    ] + [_gone_case()]


def _gone_case() -> Case:
    """One of the sinks has gone before: the others are still known by their positions."""
    return after(
        'rng = draw(9, "du1"); memory = drawn_memory(rng, 8, 4 * 260, first=3); '
        "memory.drop(memory.entries[0]); keep_sinks(memory, 3)",
        "keep_sinks",
        bound,
    )


SINKS = Exercise(
    id="du1-sinks",
    names=("keep_sinks",),
    cases=_cases,
    reference=answers(keep_sinks),
    mutants=(
        Mutant(
            "no-sinks",
            "the oldest of all goes, sinks with it: positions below `sinks` stay while anything "
            "else can go",
            _dropping(lambda entries, sinks: entries[0]),
        ),
        Mutant(
            "by-place",
            "the first entries of the list are taken for sinks: a sink is known by its position, "
            "and one of them may be gone",
            _dropping(_by_place),
        ),
        Mutant(
            "one-more",
            "one sink too many is kept: positions 0 to sinks - 1",
            _dropping(_one_more),
        ),
        Mutant(
            "once",
            "one entry is dropped, and no more: go on until the memory fits",
            answers(keep_sinks=_once),
        ),
        Mutant(
            "to-spare",
            "a memory that is exactly full is taken for too full: used may be as much as budget",
            answers(keep_sinks=_to_spare),
        ),
        Mutant(
            "newest-out",
            "the newest token is dropped first, so nothing new is ever kept",
            _dropping(_newest_kept_out),
        ),
        Mutant(
            "second-newest",
            "the newest ones behind the sinks go: it is the oldest of them that goes",
            _dropping(_second_newest),
        ),
        Mutant(
            "sinks-first",
            "the sinks fill the memory and the newest token goes: it stays, and sinks make room",
            _dropping(_sinks_never),
        ),
        Mutant(
            "oldest-sink",
            "where sinks must go, the oldest goes first: the newest of them does",
            _dropping(_oldest_sink),
        ),
    ),
)
