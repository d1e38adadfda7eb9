"""Lesson 11: what draws attention stays, and the newest, which could not draw any yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from ..duel.memory import Entry, Memory
from .lesson_11_common import after, bound, looping
from .model import Case, Exercise, Mutant, answers

__all__ = ["SCORE"]

Victim = Callable[[Sequence[Entry], int], Entry]


def keep_by_score(memory: Memory, recent: int) -> None:
    """Drop until it fits: the least mass first, never the newest ``recent`` while others stand."""
    while memory.used > memory.budget:
        memory.drop(_victim(memory.entries, recent))


def _victim(entries: Sequence[Entry], recent: int) -> Entry:
    older = entries[:-recent]
    return min(older, key=lambda entry: entry.mass) if older else entries[0]


def _dropping(victim: Victim) -> dict[str, object]:
    return looping(
        "keep_by_score", lambda memory, recent: memory.drop(victim(memory.entries, recent))
    )


def _least(entries: Sequence[Entry]) -> Entry:
    return min(entries, key=lambda entry: entry.mass)


def _older(entries: Sequence[Entry], kept: int) -> Sequence[Entry]:
    return entries[: max(0, len(entries) - kept)]


def _last_of_ties(entries: Sequence[Entry], recent: int) -> Entry:
    return min(reversed(entries[:-recent]), key=lambda entry: entry.mass, default=entries[0])


def _by_mean(entries: Sequence[Entry], recent: int) -> Entry:
    newest = entries[-1].position
    return min(
        entries[:-recent],
        key=lambda entry: entry.mass / (newest - entry.position),
        default=entries[0],
    )


def _by_position(entries: Sequence[Entry], recent: int) -> Entry:
    """Spare positions in place of entries: with gaps, fewer tokens are new."""
    newest = entries[-1].position
    older = [entry for entry in entries if entry.position <= newest - recent]
    return _least(older) if older else entries[0]


def _few_by_mass(entries: Sequence[Entry], recent: int) -> Entry:
    return _least(_older(entries, recent) or entries)


def _most(entries: Sequence[Entry], recent: int) -> Entry:
    older = entries[:-recent]
    return max(older, key=lambda entry: entry.mass) if older else entries[0]


def _once_sorted(memory: Memory, recent: int) -> None:
    """Sort once and drop as many as are over, whether or not they are enough to choose from."""
    for entry in sorted(memory.entries[:-recent], key=lambda entry: entry.mass):
        if memory.used > memory.budget:
            memory.drop(entry)


def _cases(rng: Random) -> list[Case]:
    """Draw (tokens, entries that fit, recent)."""
    runs = [
        (6, 4, 1),
        (8, 4, 2),
        (9, 5, 3),
        (5, 5, 2),
        (6, 2, 3),
        (7, 3, 3),
        (12, 6, 2),
        (14, 5, 4),
    ]
    fit = rng.randrange(4, 8)
    runs += [(fit + rng.randrange(3, 9), fit, rng.randrange(1, 4)), (fit + 4, 2, 4)]
    runs += [(16, 8, 2), (18, 9, 3)]
    return [
        after(
            f'rng = draw({seed}, "du2"); memory = drawn_memory(rng, {tokens}, {fit} * 260); '
            f"keep_by_score(memory, {recent})",
            "keep_by_score",
            bound,
        )
        for seed, (tokens, fit, recent) in enumerate(runs)
    ] + [_tied()]


def _tied() -> Case:
    """Two entries have drawn the same."""
    return after(
        'rng = draw(9, "du2"); memory = drawn_memory(rng, 6, 5 * 260); '
        "memory.entries[1].mass = memory.entries[3].mass = 0.0; keep_by_score(memory, 2)",
        "keep_by_score",
        bound,
    )


SCORE = Exercise(
    id="du2-score",
    names=("keep_by_score",),
    cases=_cases,
    reference=answers(keep_by_score),
    mutants=(
        Mutant(
            "newest-too",
            "the newest tokens are weighed like the others: nobody has asked for them yet, so "
            "they go at once",
            _dropping(lambda entries, recent: _least(entries)),
        ),
        Mutant(
            "only-the-last",
            "only the newest token is spared: the newest `recent` are",
            _dropping(lambda entries, recent: _least(entries[:-1]) if entries[:-1] else entries[0]),
        ),
        Mutant(
            "one-too-many",
            "one token too many is spared as new",
            _dropping(lambda entries, recent: _victim(entries, recent + 1)),
        ),
        Mutant(
            "by-position",
            "positions are counted back from the newest: between entries there are gaps, so count "
            "entries",
            _dropping(_by_position),
        ),
        Mutant("most", "what draws the most attention goes first", _dropping(_most)),
        Mutant(
            "oldest",
            "the oldest goes, whatever attention it draws",
            _dropping(lambda entries, recent: entries[0]),
        ),
        Mutant(
            "by-mean",
            "the mass is divided by the age: the rule weighs the sum, as it is",
            _dropping(_by_mean),
        ),
        Mutant(
            "younger-of-ties",
            "of two with the same mass the newer goes: the older does",
            _dropping(_last_of_ties),
        ),
        Mutant(
            "recent-by-mass",
            "among the newest ones, too, the least mass goes: of those the oldest goes",
            _dropping(_few_by_mass),
        ),
        Mutant(
            "over-budget",
            "the newest ones stay although they alone are over the budget",
            answers(keep_by_score=_once_sorted),
        ),
    ),
)
