"""Lesson 06: right and wrong ways to share positions out between window and summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .model import answers

Blocks = list[list[int]]
Sees = tuple[list[int], Blocks]


def query_sees(query: int, window: int, sinks: int, block: int) -> Sees:
    """Give what a query sees exactly, and the members of each summary that it sees."""
    return exact(query, window, sinks), cut(range(sinks, query - window + 1), block)


def exact(query: int, window: int, sinks: int) -> list[int]:
    return [p for p in range(query + 1) if p < sinks or query - p < window]


def cut(positions: Sequence[int], block: int) -> Blocks:
    """Cut positions into blocks from the first one on; the last may be unfinished."""
    return [list(positions[at : at + block]) for at in range(0, len(positions), block)]


def sharing(
    exactly: Callable[[int, int, int], list[int]] = exact,
    left: Callable[[int, int, int], Sequence[int]] = lambda q, w, s: range(s, q - w + 1),
    cutting: Callable[[Sequence[int], int], Blocks] = cut,
) -> dict[str, Any]:
    """Make a mutant from what is exact, what has left, and how that is cut into blocks."""

    def sees(query: int, window: int, sinks: int, block: int) -> Sees:
        return exactly(query, window, sinks), cutting(left(query, window, sinks), block)

    return answers(query_sees=sees)


def finished(positions: Sequence[int], block: int) -> Blocks:
    return [some for some in cut(positions, block) if len(some) == block]


def from_the_window(positions: Sequence[int], block: int) -> Blocks:
    """Cut so that the oldest block is the unfinished one."""
    short = len(positions) % block
    return ([list(positions[:short])] if short else []) + cut(positions[short:], block)


def on_a_grid(positions: Sequence[int], block: int) -> Blocks:
    """Cut at the multiples of ``block``, wherever the first position is."""
    numbers = sorted({p // block for p in positions})
    return [[p for p in positions if p // block == number] for number in numbers]


def ends(positions: Sequence[int], block: int) -> Any:
    return [(some[0], some[-1]) for some in cut(positions, block)]


def counts(positions: Sequence[int], block: int) -> Any:
    return [len(some) for some in cut(positions, block)]


def waiting(query: int, window: int, sinks: int, block: int) -> Sees:
    """Keep tokens exact until their block is finished."""
    blocks = finished(range(sinks, query - window + 1), block)
    taken = [p for some in blocks for p in some]
    return [p for p in range(query + 1) if p not in taken], blocks


def sinks_twice(query: int, window: int, sinks: int) -> list[int]:
    return [*range(sinks), *range(max(0, query - window + 1), query + 1)]


def later_sinks(query: int, window: int, sinks: int) -> list[int]:
    return sorted({*range(sinks), *exact(query, window, sinks)})


def swapped(query: int, window: int, sinks: int, block: int) -> Any:
    seen, blocks = query_sees(query, window, sinks, block)
    return blocks, seen


def sinks_in_window(query: int, window: int, sinks: int) -> list[int]:
    """Count the sinks among the window's tokens."""
    return exact(query, max(1, window - sinks), sinks)


def wider_by_sinks(query: int, window: int, sinks: int, block: int) -> Sees:
    seen = exact(query, window + sinks, sinks)
    return seen, cut([p for p in range(query + 1) if p not in seen], block)


def below_zero(query: int, window: int, sinks: int) -> list[int]:
    return sorted({*range(min(sinks, query + 1)), *range(query - window + 1, query + 1)})
