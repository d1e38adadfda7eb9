"""Lesson 03: right and wrong choices of what stays of a chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Pairs = list[tuple[int, int]]
Sizes = tuple[int, int, int, int, int]  # seen, n, window, sinks, slack


def stays(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
    """Give (position, slot) of each token of the chunk that is stored, in order of position."""
    sizes = (seen, n, window, sinks, slack)
    return [(position, slot(position, sizes)) for position in stay(*sizes)]


def stay(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    end, ring = seen + n, window + slack
    return (p for p in range(seen, end) if p < sinks or p >= end - ring)


def slot(position: int, sizes: Sizes) -> int:
    _, _, window, sinks, slack = sizes
    return position if position < sinks else sinks + (position - sinks) % (window + slack)


def made_of(
    stay: Callable[..., Iterable[int]] = stay, slot: Callable[[int, Sizes], int] = slot
) -> Callable[..., Any]:
    """Make ``stays`` from what stays and where it lies: all the mutants differ in one of them."""

    def answer(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
        sizes = (seen, n, window, sinks, slack)
        return [(position, slot(position, sizes)) for position in stay(*sizes)]

    return answer


def first(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    others = [p for p in range(seen, seen + n) if p >= sinks]
    return [*range(seen, min(sinks, seen + n)), *others[: window + slack]]


def last(change: int = 0, sinks_too: bool = True) -> Callable[..., Iterable[int]]:
    """Give the sinks, and ``change`` more than the last ring of positions."""

    def stay(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
        oldest = seen + n - window - slack - change
        return (p for p in range(seen, seen + n) if p >= oldest or (sinks_too and p < sinks))

    return stay


def last_window(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return stay(seen, n, window, sinks, 0)


def sinks_inside(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return stay(seen, n, window - sinks, sinks, slack)


def ring_and_sinks(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return stay(seen, n, window + sinks, sinks, slack)


def sinks_inside_modulo(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
    return stays(seen, n, window - sinks, sinks, slack)


def last_slots(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return range(max(seen, seen + n - window - sinks - slack), seen + n)


def one_past(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    oldest = seen + n - window - slack
    return (p for p in range(seen, seen + n + 1) if p < sinks or p >= oldest)


def sinks_again(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return sorted({*range(sinks), *stay(seen, n, window, sinks, slack)})


def sinks_twice(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    end = seen + n
    return [*range(seen, min(sinks, end)), *range(max(seen, end - window - slack), end)]


def whole_text(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return stay(0, seen + n, window, sinks, slack)


def place_in_chunk(position: int, sizes: Sizes) -> int:
    return slot(position - sizes[0], sizes)


def ring_is_window(position: int, sizes: Sizes) -> int:
    return slot(position, (*sizes[:4], 0))


def rolled(position: int, sizes: Sizes) -> int:
    return position % (sizes[2] + sizes[3] + sizes[4])


def other_rule(position: int, sizes: Sizes) -> int:
    _, _, window, sinks, slack = sizes
    return position if position < sinks else sinks + position % (window + slack)


def behind_nothing(position: int, sizes: Sizes) -> int:
    _, _, window, sinks, slack = sizes
    return position if position < sinks else (position - sinks) % (window + slack)


def no_modulo(position: int, sizes: Sizes) -> int:
    return position


def ring_is_slots(position: int, sizes: Sizes) -> int:
    seen, n, window, sinks, slack = sizes
    return slot(position, (seen, n, window + sinks, sinks, slack))


def plain_ring(position: int, sizes: Sizes) -> int:
    return position % (sizes[2] + sizes[4])


def one_more_sink(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return stay(seen, n, window - 1, sinks + 1, slack + 1)


def chunk_alone(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
    return [(seen + place, slot) for place, slot in stays(0, n, window, sinks, slack)]


def from_zero(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
    return stays(0, n, window, sinks, slack)


def range_n(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return (p for p in range(n) if p < sinks or p >= seen + n - window - slack)


def by_first_write(seen: int, n: int, *rest: int) -> Pairs:
    sizes = (seen, n, *rest)
    in_slot = {slot(p, sizes): p for p in range(seen, seen + n)}  # type: ignore[arg-type]
    return [(position, at) for at, position in in_slot.items()]


def slots_only(*sizes: int) -> list[int]:
    return [slot for _, slot in stays(*sizes)]


def positions_only(*sizes: int) -> list[int]:
    return [position for position, _ in stays(*sizes)]


def by_slot(*sizes: int) -> Pairs:
    return sorted(stays(*sizes), key=lambda pair: pair[1])


def swapped(*sizes: int) -> Pairs:
    return [(slot, position) for position, slot in stays(*sizes)]
