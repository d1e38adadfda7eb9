"""Lesson 02, case file: a cache that shifts one token too early."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from ..given_numpy import RingArrays
from .code_case import code_case
from .lesson_02_attention import Array
from .lesson_02_write_mistakes import write
from .model import Case, Exercise, Mutant, answers

__all__ = ["EARLY"]

# case02-early: full, or one short of it (after huggingface/transformers#37574)


def slide_in(cache: RingArrays, k: Array, v: Array) -> None:
    """Store one token behind the others; a full cache first drops its oldest."""
    if cache.seen >= cache.slots:
        _shift(cache)
    _put(cache, k, v, min(cache.seen, cache.slots - 1))


def _shift(cache: RingArrays) -> None:
    for memory in (cache.keys, cache.values):
        memory[:, :-1] = memory[:, 1:].copy()
    cache.positions[:-1] = cache.positions[1:].copy()


def _put(cache: RingArrays, k: Array, v: Array, place: int) -> None:
    cache.keys[:, place], cache.values[:, place] = k, v
    cache.positions[place] = cache.seen
    cache.seen += 1


def _when(full: Callable[[RingArrays, int], bool]) -> dict[str, Any]:
    """Make a mutant from its idea of full; it gets the cache and the clamped place."""

    def mutant(cache: RingArrays, k: Array, v: Array) -> None:
        place = min(cache.seen, cache.slots - 1)
        if full(cache, place):
            _shift(cache)
        _put(cache, k, v, place)

    return answers(slide_in=mutant)


def _after(cache: RingArrays, k: Array, v: Array) -> None:
    full = cache.seen >= cache.slots
    _put(cache, k, v, min(cache.seen, cache.slots - 1))
    if full:
        _shift(cache)


def _from_the_start(cache: RingArrays, k: Array, v: Array) -> None:
    _shift(cache)
    _put(cache, k, v, cache.slots - 1)


def _past_the_end(cache: RingArrays, k: Array, v: Array) -> None:
    if cache.seen >= cache.slots:
        _shift(cache)
    _put(cache, k, v, cache.seen)


def _capped(cache: RingArrays, k: Array, v: Array) -> None:
    slide_in(cache, k, v)
    cache.seen = min(cache.seen, cache.slots)


def _stays(name: str) -> dict[str, Any]:
    """Make a mutant that leaves one of the three arrays out of the shift."""

    def mutant(cache: RingArrays, k: Array, v: Array) -> None:
        before = getattr(cache, name).copy()
        full = cache.seen >= cache.slots
        slide_in(cache, k, v)
        if full:
            after = getattr(cache, name)
            rest = np.s_[:-1] if name == "positions" else np.s_[:, :-1]
            after[rest] = before[rest]

    return answers(slide_in=mutant)


def _one_short(cache: RingArrays, k: Array, v: Array) -> None:
    last = cache.slots - 1
    if cache.seen >= last > 0:
        for memory in (cache.keys, cache.values):
            memory[:, : last - 1] = memory[:, 1:last].copy()
        cache.positions[: last - 1] = cache.positions[1:last].copy()
    _put(cache, k, v, max(0, min(cache.seen, last - 1)))


def _early_cases(rng: Random) -> list[Case]:
    runs = [(4, 4), (4, 3), (4, 5), (4, 6), (4, 9), (1, 1), (1, 2), (2, 3), (8, 8)]
    window = rng.randrange(3, 7)
    runs += [(window, window + rng.randrange(1, window - 1)), (window, rng.randrange(8, 15))]
    return [_early_case(rng.randrange(1000), *run) for run in runs]


def _early_case(seed: int, slots: int, tokens: int) -> Case:
    line = (
        f'rng = draw({seed}, "case02"); cache = RingArrays({slots}); '
        f"[slide_in(cache, numbers(rng, 1, 2), numbers(rng, 1, 2)) for _ in range({tokens})]"
    )

    def look(space: dict[str, Any]) -> dict[str, Any]:
        cache = space["cache"]
        names = ("positions", "seen", "keys", "values")
        return {name: getattr(cache, name) for name in names}

    return code_case(line, "slide_in", look, may_change=(0,))


EARLY = Exercise(
    id="case02-early",
    names=("slide_in",),
    cases=_early_cases,
    reference=answers(slide_in),
    mutants=(
        Mutant(
            "early",
            "the cache shifts one token early: with one place still empty, the first token goes "
            "and the empty place moves in among the tokens",
            _when(lambda cache, place: place >= cache.slots - 1),
        ),
        Mutant(
            "never",
            "the cache never shifts: a place that was cut down to the last one can never lie "
            "behind it, so the newest token is overwritten",
            _when(lambda cache, place: place > cache.slots - 1),
        ),
        Mutant(
            "late",
            "the cache shifts one token late: the first token that finds it full goes over the "
            "newest one",
            _when(lambda cache, place: cache.seen > cache.slots),
        ),
        Mutant(
            "once",
            "the cache shifts only when it has just become full: it has to for every later token",
            _when(lambda cache, place: cache.seen == cache.slots),
        ),
        Mutant(
            "once-a-round",
            "the cache shifts once a round: once it is full, it has to for every token",
            _when(lambda cache, place: cache.seen % cache.slots == 0),
        ),
        Mutant(
            "after",
            "the shift comes after the write: the newest token has been overwritten by then",
            answers(slide_in=_after),
        ),
        Mutant(
            "from-the-start",
            "the cache shifts from the first token on: empty places stand before the tokens",
            answers(slide_in=_from_the_start),
        ),
        Mutant(
            "past-the-end",
            "the place is no longer cut down to the last one: it runs past the end",
            answers(slide_in=_past_the_end),
        ),
        Mutant(
            "ring",
            "a ring is made of it, and a good one: this cache promises its tokens oldest first, "
            "to readers that know nothing of slots",
            answers(slide_in=write),
        ),
        Mutant(
            "capped",
            "seen stops when the cache is full: it counts all tokens, and positions follow it",
            answers(slide_in=_capped),
        ),
        *(
            Mutant(
                f"{name}-stay",
                "keys, values and positions are not all shifted: they no longer belong together",
                _stays(name),
            )
            for name in ("positions", "keys", "values")
        ),
        Mutant(
            "one-place-unused",
            "the last place is never used: the cache keeps one token too few",
            answers(slide_in=_one_short),
        ),
    ),
)
