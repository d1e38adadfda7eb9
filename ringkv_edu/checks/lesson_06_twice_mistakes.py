"""Lesson 06: right and wrong ways to count who is counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from .model import answers

Span = tuple[int, int]


def times_counted(newest: int, exact: Sequence[int], summaries: Sequence[Span]) -> list[int]:
    """Say for each position 0 to ``newest`` how often a query counts it."""
    return [
        (position in exact) + sum(first <= position <= last for first, last in summaries)
        for position in range(newest + 1)
    ]


def counting(
    span: Callable[[int, int], Collection[int]] = lambda first, last: range(first, last + 1),
    exact: Callable[[Sequence[int]], Collection[int]] = lambda exact: exact,
) -> dict[str, Any]:
    """Make a mutant from what a summary covers and what counts as exact."""

    def times(newest: int, seen: Sequence[int], summaries: Sequence[Span]) -> list[int]:
        covered = [exact(seen), *(span(*one) for one in summaries)]
        return [sum(position in one for one in covered) for position in range(newest + 1)]

    return answers(times_counted=times)


def after(change: Callable[[list[int]], list[int]]) -> dict[str, Any]:
    """Make a mutant that changes the right result."""
    return answers(times_counted=lambda *given: change(times_counted(*given)))


def filled(exact: Sequence[int]) -> range:
    return range(min(exact), max(exact) + 1) if exact else range(0)


def any_summary(newest: int, exact: Sequence[int], summaries: Sequence[Span]) -> list[int]:
    return [
        (position in exact) + any(first <= position <= last for first, last in summaries)
        for position in range(newest + 1)
    ]


def exact_or_summary(newest: int, exact: Sequence[int], summaries: Sequence[Span]) -> list[int]:
    counts = times_counted(newest, [], summaries)
    return [1 if position in exact else n for position, n in enumerate(counts)]


def from_one(newest: int, exact: Sequence[int], summaries: Sequence[Span]) -> list[int]:
    return times_counted(newest + 1, exact, summaries)[1:]
