"""Times several things in turn, so that a noisy machine disturbs them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Mapping
from time import perf_counter
from typing import TypeVar

__all__ = ["fastest", "table"]

IN_A_ROW = 5
Name = TypeVar("Name", bound=Hashable)


def fastest(things: Mapping[Name, Callable[[], object]], seconds: float) -> dict[Name, float]:
    """Give the least time in microseconds that one call of each took.

    They take turns, a few calls each, so that the first warms what the one before left cold, for
    about ``seconds`` in all. The minimum is quoted, because whatever disturbs a measurement makes
    it longer.
    """
    best = dict.fromkeys(things, float("inf"))
    for call in things.values():
        call()  # first calls pay for imports and fresh pages
    collecting = gc.isenabled()
    gc.disable()
    try:
        until = perf_counter() + seconds
        while perf_counter() < until or float("inf") in best.values():
            for name, call in things.items():
                for _ in range(IN_A_ROW):
                    start = perf_counter()
                    call()
                    best[name] = min(best[name], perf_counter() - start)
    finally:
        if collecting:
            gc.enable()
    return {name: 1e6 * time for name, time in best.items()}


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lay out text in columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in (head, *rows)
    ]
