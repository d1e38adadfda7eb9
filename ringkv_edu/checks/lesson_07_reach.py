"""Lesson 07: how far a token travels through layers, by experiment and by rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from .lesson_07_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["REACH"]

Run = Callable[[Sequence[int]], list[Any]]
Windows = Sequence[int | None]


def spread(run: Run, tokens: Sequence[int], at: int) -> list[int]:
    """Give, for each layer, the last position that a change of token ``at`` reaches."""
    return _spread(run, tokens, at)


def _spread(
    run: Run,
    tokens: Sequence[int],
    at: int,
    pick: Callable[[Any], Any] = lambda moved: int(moved[-1]),
    changed: Callable[[list[int], int], None] = lambda other, at: other.__setitem__(
        at, (other[at] + 1) % 10
    ),
) -> list[Any]:
    other = list(tokens)
    changed(other, at)
    pairs = zip(run(tokens), run(other), strict=True)
    return [pick(np.flatnonzero((a != b).any(axis=1))) for a, b in pairs]


def reach(windows: Windows, position: int) -> int:
    """Give the oldest position whose token can change what the last layer says at ``position``."""
    return _reach(windows, position)


def _reach(
    windows: Windows,
    position: int,
    step: Callable[[int], int] = lambda window: window - 1,
    total: Callable[[list[int]], int] = sum,
) -> int:
    if None in windows:
        return 0
    return max(0, position - total([step(w) for w in windows if w is not None]))


def _with_spread(pick: Callable[[Any], Any]) -> dict[str, Any]:
    return answers(spread=lambda run, tokens, at: _spread(run, tokens, at, pick))


def _with_reach(**parts: Any) -> dict[str, Any]:
    return answers(reach=lambda windows, position: _reach(windows, position, **parts))


def _last_layer_alone(run: Run, tokens: Sequence[int], at: int) -> int:
    return spread(run, tokens, at)[-1]


def _from_the_distance(run: Run, tokens: Sequence[int], at: int) -> list[int]:
    return [last - at for last in spread(run, tokens, at)]


def _same_list(run: Run, tokens: list[int], at: int) -> list[int]:
    other = tokens
    before = run(tokens)
    other[at] = (other[at] + 1) % 10
    return [int(np.flatnonzero((a != b).any(axis=1))[-1]) for a, b in zip(before, run(other))]  # noqa: B905


def _set_to(value: Callable[[int], int]) -> dict[str, Any]:
    def changed(other: list[int], at: int) -> None:
        other[at] = value(other[at])

    return answers(spread=lambda run, tokens, at: _spread(run, tokens, at, changed=changed))


def _last_window_for_all(windows: Windows, position: int) -> int:
    return _first_window_for_all(windows[::-1], position)


def _globals_skipped(windows: Windows, position: int) -> int:
    return reach([w for w in windows if w is not None], position)


def _last_layer_decides(windows: Windows, position: int) -> int:
    return reach(windows[-1:], position)


def _clipped_never(windows: Windows, position: int) -> int:
    if None in windows:
        return 0
    return position - sum(w - 1 for w in windows if w is not None)


def _first_window_for_all(windows: Windows, position: int) -> int:
    first = windows[0]
    return 0 if first is None else max(0, position - len(windows) * (first - 1))


def _distance(windows: Windows, position: int) -> int:
    return position - reach(windows, position)


def _reach_cases(rng: Random) -> list[Case]:
    stacks: list[tuple[list[int | None], int, int]] = [
        ([3], 8, 0), ([3, 3], 8, 0), ([4, 4, 4], 12, 1), ([2, 5], 11, 3), ([1, 3], 6, 2),
        ([3, None], 7, 1), ([None, 2], 6, 4), ([3, 3, 3], 5, 2),
    ]  # fmt: skip
    windows: list[int | None] = [rng.randrange(2, 4) for _ in range(rng.randrange(2, 4))]
    stacks.append((windows, rng.randrange(10, 14), rng.randrange(1, 3)))
    cases = []
    for seed, (layers, n, at) in enumerate(stacks):
        tokens = [rng.randrange(10) for _ in range(n)]
        tokens[at] = {1: 9, 2: 0}.get(seed, tokens[at])  # the last token, the first one
        made = f'Stack({layers}, draw({seed}, "mo2"))'
        cases.append(call_case(f"spread({made}.run, {tokens}, {at})", "spread", may_change=(0,)))
    asked: list[tuple[list[int | None], int]] = [
        ([4], 10), ([4], 2), ([4, 4, 4], 20), ([4, 4, 4], 9), ([4, 4, 4], 7), ([1, 1], 5),
        ([8, 2], 30), ([4, None, 4], 50), ([None], 6), ([4, 4], 0), ([256] * 30, 10_000),
    ]  # fmt: skip
    sizes = [rng.randrange(2, 9) for _ in range(rng.randrange(2, 5))]
    asked.append(([*sizes], sum(sizes) + rng.randrange(1, 20)))
    return [*cases, *(call_case(f"reach({w}, {p})", "reach") for w, p in asked)]


REACH = Exercise(
    id="mo2-reach",
    names=("spread", "reach"),
    cases=_reach_cases,
    reference=answers(spread, reach),
    mutants=(
        Mutant(
            "first-row",
            "the first row that changed is named: that is the changed token itself, in every "
            "layer. The last one is asked for",
            _with_spread(lambda moved: int(moved[0])),
        ),
        Mutant(
            "count",
            "the rows that changed are counted: the position of the last one is asked for",
            _with_spread(len),
        ),
        Mutant(
            "all-rows",
            "every row that changed is listed: the last one is asked for, one number a layer",
            _with_spread(lambda moved: moved.tolist()),
        ),
        Mutant(
            "how-far",
            "the distance from the changed token is given: its position is asked for",
            answers(spread=_from_the_distance),
        ),
        Mutant(
            "last-layer-alone",
            "the last layer alone is looked at: give one number for each layer",
            answers(spread=_last_layer_alone),
        ),
        Mutant(
            "same-list",
            "the caller's list is changed: `other = tokens` is a second name for the same list. "
            "Copy it, list(tokens)",
            answers(spread=_same_list),
        ),
        Mutant(
            "from-one",
            "positions are counted from 1: the first is 0",
            _with_spread(lambda moved: int(moved[-1]) + 1),
        ),
        Mutant(
            "past-nine",
            "the other token is one more than the first, and after 9 there is none: (t + 1) % 10",
            _set_to(lambda token: token + 1),
        ),
        Mutant(
            "always-zero",
            "the other token is always 0: where it was 0 before, nothing changes",
            _set_to(lambda token: 0),
        ),
        Mutant(
            "window",
            "each layer is thought to reach W further: W counts the token itself, so it is W - 1",
            _with_reach(step=lambda window: window),
        ),
        Mutant(
            "one-layer",
            "one layer is thought to be all: the layer below has brought older tokens as near",
            _with_reach(total=max),
        ),
        Mutant(
            "last-layer-decides",
            "only the last layer's window is asked: what it reads has come through those below",
            answers(reach=_last_layer_decides),
        ),
        Mutant(
            "first-window-for-all",
            "every layer is given the first one's window: each has its own",
            answers(reach=_first_window_for_all),
        ),
        Mutant(
            "last-window-for-all",
            "every layer is given the last one's window: each has its own",
            answers(reach=_last_window_for_all),
        ),
        Mutant(
            "multiplied",
            "the layers' reaches are multiplied: each adds its own",
            _with_reach(total=lambda steps: int(np.prod(steps))),
        ),
        Mutant(
            "globals-skipped",
            "a layer without a window is left out: None sees all, so through it everything is "
            "in reach",
            answers(reach=_globals_skipped),
        ),
        Mutant(
            "below-zero",
            "the result is less than 0: the text begins at position 0",
            answers(reach=_clipped_never),
        ),
        Mutant(
            "one-too-many",
            "one position too many is counted, as from a window that does not hold its own token",
            _with_reach(total=lambda steps: sum(steps) + 1),
        ),
        Mutant(
            "distance",
            "the distance is given: the oldest position is asked for",
            answers(reach=_distance),
        ),
    ),
)
