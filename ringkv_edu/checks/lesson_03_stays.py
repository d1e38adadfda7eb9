"""Lesson 03: which tokens of a chunk stay in the ring, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["STAYS"]

Pairs = list[tuple[int, int]]
Sizes = tuple[int, int, int, int, int]  # seen, n, window, sinks, slack


def stays(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
    """Give (position, slot) of each token of the chunk that is stored, in order of position."""
    sizes = (seen, n, window, sinks, slack)
    return [(position, _slot(position, sizes)) for position in _stay(*sizes)]


def _stay(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    end, ring = seen + n, window + slack
    return (p for p in range(seen, end) if p < sinks or p >= end - ring)


def _slot(position: int, sizes: Sizes) -> int:
    _, _, window, sinks, slack = sizes
    return position if position < sinks else sinks + (position - sinks) % (window + slack)


def _with(
    stay: Callable[..., Iterable[int]] = _stay, slot: Callable[[int, Sizes], int] = _slot
) -> Callable[..., Any]:
    """Make ``stays`` from what stays and where it lies: all the mutants differ in one of them."""

    def answer(seen: int, n: int, window: int, sinks: int, slack: int) -> Pairs:
        sizes = (seen, n, window, sinks, slack)
        return [(position, slot(position, sizes)) for position in stay(*sizes)]

    return answer


def _first(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    others = [p for p in range(seen, seen + n) if p >= sinks]
    return [*range(seen, min(sinks, seen + n)), *others[: window + slack]]


def _last(change: int = 0, sinks_too: bool = True) -> Callable[..., Iterable[int]]:
    """Give the sinks, and ``change`` more than the last ring of positions."""

    def stay(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
        oldest = seen + n - window - slack - change
        return (p for p in range(seen, seen + n) if p >= oldest or (sinks_too and p < sinks))

    return stay


def _last_window(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return _stay(seen, n, window, sinks, 0)


def _sinks_inside(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return _stay(seen, n, window - sinks, sinks, slack)


def _sinks_again(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return sorted({*range(sinks), *_stay(seen, n, window, sinks, slack)})


def _sinks_twice(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    end = seen + n
    return [*range(seen, min(sinks, end)), *range(max(seen, end - window - slack), end)]


def _whole_text(seen: int, n: int, window: int, sinks: int, slack: int) -> Iterable[int]:
    return _stay(0, seen + n, window, sinks, slack)


def _place_in_chunk(position: int, sizes: Sizes) -> int:
    return _slot(position - sizes[0], sizes)


def _ring_is_window(position: int, sizes: Sizes) -> int:
    return _slot(position, (*sizes[:4], 0))


def _rolled(position: int, sizes: Sizes) -> int:
    return position % (sizes[2] + sizes[3] + sizes[4])


def _other_rule(position: int, sizes: Sizes) -> int:
    _, _, window, sinks, slack = sizes
    return position if position < sinks else sinks + position % (window + slack)


def _behind_nothing(position: int, sizes: Sizes) -> int:
    _, _, window, sinks, slack = sizes
    return position if position < sinks else (position - sinks) % (window + slack)


def _no_modulo(position: int, sizes: Sizes) -> int:
    return position


def _by_slot(*sizes: int) -> Pairs:
    return sorted(stays(*sizes), key=lambda pair: pair[1])


def _swapped(*sizes: int) -> Pairs:
    return [(slot, position) for position, slot in stays(*sizes)]


def _stays_cases(rng: Random) -> list[Case]:
    sizes = [(8, 3, 4, 0, 0), (0, 11, 4, 0, 0), (0, 11, 4, 2, 0), (0, 1, 4, 2, 1), (0, 3, 4, 2, 0)]
    sizes += [(1, 12, 4, 2, 0), (9, 3, 4, 2, 2), (10, 10, 4, 2, 2), (5, 1, 1, 0, 0)]
    sizes += [(7, 5, 1, 1, 0), (3, 20, 2, 3, 1), (4, 2, 2, 3, 0)]
    for _ in range(3):
        window, sinks, slack = rng.randrange(2, 6), rng.randrange(3), rng.randrange(3)
        sizes.append((rng.randrange(15), rng.randrange(1, 15), window, sinks, slack))
    return [_stays_case(*size) for size in sizes]


def _stays_case(seen: int, n: int, window: int, sinks: int, slack: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": call(answer.stays, seen, n, window, sinks, slack)}

    sizes = f"window {window}, sinks {sinks}, slack {slack}"
    return Case(f"{sizes}; {seen} seen, then a chunk of {n}", run)


STAYS = Exercise(
    id="chunk1-stays",
    names=("stays",),
    cases=_stays_cases,
    reference=answers(stays),
    mutants=(
        Mutant(
            "every-token",
            "every token of the chunk is written: in a chunk longer than the ring, two tokens "
            "claim one slot",
            answers(stays=_with(lambda seen, n, *rest: range(seen, seen + n))),
        ),
        Mutant(
            "first-kept",
            "the first tokens that fit are kept: the ring holds the last ones",
            answers(stays=_with(_first)),
        ),
        Mutant(
            "sinks-lost",
            "sinks are lost when the chunk is longer than the ring: they stay however long it is",
            answers(stays=_with(_last(sinks_too=False))),
        ),
        Mutant(
            "last-window",
            "only the last `window` tokens are kept: the ring has room for `slack` more",
            answers(stays=_with(_last_window)),
        ),
        Mutant(
            "no-slack",
            "slack is forgotten: R is window + slack, for what stays and for the modulo",
            answers(stays=_with(_last_window, _ring_is_window)),
        ),
        Mutant(
            "modulo-window",
            "the modulo is taken with the window alone: the ring has window + slack slots",
            answers(stays=_with(slot=_ring_is_window)),
        ),
        Mutant(
            "place-in-chunk",
            "the slot is taken from the place in the chunk: token 0 of the chunk is at position "
            "`seen`, and the slot follows the position",
            answers(stays=_with(slot=_place_in_chunk)),
        ),
        Mutant(
            "sinks-rolled",
            "the modulo runs over all slots, so later tokens go round through the sinks' slots",
            answers(stays=_with(slot=_rolled)),
        ),
        Mutant(
            "other-rule",
            "the slot is sinks + p % R. A ring that always did so would work as well; the rule of "
            "this course, which its other code relies on, is sinks + (p - sinks) % R",
            answers(stays=_with(slot=_other_rule)),
        ),
        Mutant(
            "not-behind",
            "the ring's slots are counted from 0: they begin behind the sinks, at slot `sinks`",
            answers(stays=_with(slot=_behind_nothing)),
        ),
        Mutant(
            "no-modulo",
            "the position is taken as the slot: behind the sinks it goes round, modulo R",
            answers(stays=_with(slot=_no_modulo)),
        ),
        Mutant(
            "one-too-many",
            "one token too many stays, and it shares a slot with the newest",
            answers(stays=_with(_last(1))),
        ),
        Mutant(
            "one-too-few",
            "one token too few stays: of a ring of R slots one is left unused",
            answers(stays=_with(_last(-1))),
        ),
        Mutant(
            "sinks-inside",
            "sinks are counted inside the window: they have slots of their own beside it",
            answers(stays=_with(_sinks_inside)),
        ),
        Mutant(
            "sinks-again",
            "sinks that were stored long ago are listed: only tokens of this chunk are asked for",
            answers(stays=_with(_sinks_again)),
        ),
        Mutant(
            "sinks-twice",
            "a sink that is also among the last R positions is listed twice",
            answers(stays=_with(_sinks_twice)),
        ),
        Mutant(
            "whole-text",
            "tokens from before the chunk are listed: only tokens of this chunk are asked for",
            answers(stays=_with(_whole_text)),
        ),
        Mutant(
            "slot-order", "the list is in order of slots, not of positions", answers(stays=_by_slot)
        ),
        Mutant("swapped", "slot and position are swapped in each pair", answers(stays=_swapped)),
    ),
)
