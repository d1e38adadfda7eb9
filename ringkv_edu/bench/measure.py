"""Times several things in turn, so that a noisy machine disturbs them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter
from typing import TypeVar

__all__ = ["Timing", "fastest", "on_host", "table", "timings"]

IN_A_ROW = 5
Name = TypeVar("Name", bound=Hashable)
Call = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """What one call took, in microseconds: the least, the median, and of how many calls.

    ``first`` is the least of the first calls of a turn, which find what the others have left in
    the processor's caches.
    """

    least: float
    median: float
    calls: int
    first: float


def on_host(call: Call) -> float:
    """Give the seconds that one call keeps the host."""
    start = perf_counter()
    call()
    return perf_counter() - start


def timings(
    things: Mapping[Name, Call],
    seconds: float,
    *,
    in_a_row: int = 1,
    rounds: int = 1,
    before: Mapping[Name, Call] | None = None,
    clock: Callable[[Call], float] = on_host,
) -> dict[Name, Timing]:
    """Time calls that take turns, ``in_a_row`` calls each, for about ``seconds`` in all.

    Every thing is called once untimed and then timed in ``rounds`` turns at least, whose order
    changes. ``before`` names what is done before each call of a thing and not timed; where it says
    that it has moved much (which then lies in a cache), that turn counts only when there are
    too few others. ``clock`` times one call in seconds.
    """
    before = before or {}
    taken: dict[Name, list[float]] = {name: [] for name in things}
    spoilt: dict[Name, list[float]] = {name: [] for name in things}
    for name, call in things.items():  # first calls pay for imports and fresh pages
        before.get(name, _nothing)()
        call()
    turns, order = list(things.items()), Random(0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        until, done = perf_counter() + seconds, 0
        while perf_counter() < until or done < rounds:
            order.shuffle(turns)  # nobody always follows the one that leaves the caches cold
            for name, call in turns:
                prepare, times = before.get(name), taken[name]
                turn, disturbed = [], False
                for _ in range(in_a_row):
                    disturbed |= bool(prepare and prepare())
                    turn.append(clock(call))
                (spoilt[name] if disturbed else times).extend(turn)
            done += 1
    finally:
        if collecting:
            gc.enable()
    for name, times in taken.items():
        if len(times) < rounds * in_a_row:
            times += spoilt[name]
    return {
        n: Timing(1e6 * min(t), 1e6 * median(t), len(t), 1e6 * min(t[::in_a_row]))
        for n, t in taken.items()
    }


def fastest(things: Mapping[Name, Call], seconds: float) -> dict[Name, float]:
    """Give the least time in microseconds that one call of each took.

    They take turns, a few calls each, so that the first warms what the one before left cold, for
    about ``seconds`` in all. The minimum is quoted, because whatever disturbs a measurement makes
    it longer.
    """
    found = timings(things, seconds, in_a_row=IN_A_ROW)
    return {name: timing.least for name, timing in found.items()}


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lay out text in columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in (head, *rows)
    ]


def _nothing() -> None:
    return None
