"""Lesson 06: how often each position is counted (after S33, D4)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ..given_summaries import PrefixSlidingCache
from . import lesson_06_twice_mistakes as wrong
from .lesson_06_common import line_case
from .lesson_06_twice_mistakes import Span, times_counted
from .model import Case, Exercise, Mutant, answers

__all__ = ["TWICE"]


def _twice_cases(rng: Random) -> list[Case]:
    newest = rng.randrange(7, 12)
    first = rng.randrange(2, newest - 4)
    spans = [(0, first), (first - 1, first + 2), (0, newest)]
    return [
        _case(2, [0, 1, 2], []),
        _case(0, [0], []),
        _case(5, [4, 5], [(0, 1), (2, 3)]),
        _case(6, [5, 6], [(0, 1), (2, 3)]),  # a hole at 4
        _case(9, [0, 1, 7, 8, 9], [(2, 4), (5, 6)]),  # two sinks
        _demo(6, 3, 15),
        _demo(4, 2, 9),
        _case(newest, [1, *range(newest - 2, newest + 1)], spans),
        _case(4, [], [(0, 0), (0, 0), (1, 4)]),
        _case(6, [6, 3, 5], [(1, 2), (2, 4)]),  # in no order
    ]


def _case(newest: int, exact: Sequence[int], summaries: Sequence[Span]) -> Case:
    return line_case(f"times_counted({newest}, {exact}, {list(summaries)})", "times_counted")


def _demo(window: int, every: int, tokens: int) -> Case:
    cache = PrefixSlidingCache(window, every)
    for position in range(tokens):
        cache.add(position)
    return _case(tokens - 1, cache.window, cache.summaries)


TWICE = Exercise(
    id="ps2-twice",
    names=("times_counted",),
    cases=_twice_cases,
    reference=answers(times_counted),
    mutants=(
        Mutant(
            "last-left-out",
            "the last position of a summary is left out: a summary (2, 4) stands for 2, 3 and 4",
            wrong.counting(span=lambda first, last: range(first, last)),
        ),
        Mutant(
            "ends-alone",
            "a summary is taken to stand for its first and last position alone: those between "
            "belong to it, too",
            wrong.counting(span=lambda first, last: {first, last}),
        ),
        Mutant(
            "exact-alone",
            "the summaries are left out of the count",
            wrong.counting(span=lambda first, last: ()),
        ),
        Mutant(
            "summaries-alone",
            "the positions seen exactly are left out of the count",
            wrong.counting(exact=lambda exact: ()),
        ),
        Mutant(
            "capped",
            "it says whether a position is counted, not how often: twice is 2",
            wrong.after(lambda counts: [min(1, n) for n in counts]),
        ),
        Mutant(
            "one-summary",
            "at most one summary is counted for each position: several may cover it",
            answers(times_counted=wrong.any_summary),
        ),
        Mutant(
            "exact-or-summary",
            "a position that is seen exactly is not looked for in the summaries: it may be in "
            "both, which is what we want to find",
            answers(times_counted=wrong.exact_or_summary),
        ),
        Mutant(
            "from-one",
            "positions are counted from 1: the first entry belongs to position 0",
            answers(times_counted=wrong.from_one),
        ),
        Mutant(
            "newest-left-out",
            "the newest position is left out: the list goes from 0 to newest, so it has newest + 1 "
            "entries",
            wrong.after(lambda counts: counts[:-1]),
        ),
        Mutant(
            "only-covered",
            "positions that nothing covers are left out: they count 0, and are the holes",
            wrong.after(lambda counts: [n for n in counts if n]),
        ),
        Mutant(
            "exact-filled",
            "everything from the first to the last exact position is counted as exact: with sinks "
            "there is a gap",
            wrong.counting(exact=wrong.filled),
        ),
        Mutant(
            "by-place",
            "the place in the list `exact` is taken for a position: the positions are what stands "
            "in it",
            wrong.counting(exact=lambda exact: range(len(exact))),
        ),
    ),
)
