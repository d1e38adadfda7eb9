"""Lesson 03: when one query needs no mask."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import filled_arrays
from .guard import call
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["FULL"]

Array = npt.NDArray[Any]
Test = Callable[[Array, int, int, int], Any]  # (positions, written, window, slack)


def no_mask_needed(positions: Array, written: int, window: int, slack: int) -> bool:
    """Say whether the newest token sees every slot."""
    return slack == 0 and bool((positions >= 0).all())


def _mutant(name: str, sentence: str, test: Test) -> Mutant:
    return Mutant(name, sentence, answers(no_mask_needed=test))


def _full_cases(rng: Random) -> list[Case]:
    """Draw (tokens left, window, sinks, slack, taken back)."""
    states = [(0, 4, 0, 0, 0), (3, 4, 0, 0, 0), (4, 4, 0, 0, 0), (10, 4, 0, 0, 0)]
    states += [(2, 4, 0, 0, 2), (0, 4, 0, 0, 10), (8, 4, 0, 2, 2), (10, 4, 0, 2, 0)]
    states += [(4, 4, 2, 0, 0), (5, 4, 2, 0, 0), (6, 4, 2, 0, 0), (11, 3, 2, 0, 0), (1, 1, 0, 0, 0)]
    states += [(9, 3, 1, 1, 0), (2, 3, 0, 0, 7)]
    window, sinks = rng.randrange(2, 6), rng.randrange(3)
    states += [(rng.randrange(2, 20), window, sinks, 0, 0)]
    return [_full_case(*state) for state in states]


def _full_case(left: int, window: int, sinks: int, slack: int, taken: int) -> Case:
    positions = filled_arrays(left, Random(0), window, 1, 1, sinks, slack, taken).positions
    if taken > left:  # everything was taken back, and the next text has begun
        positions = filled_arrays(left, Random(0), window, 1, 1, sinks, slack).positions

    def run(answer: Answer) -> dict[str, Any]:
        given = (positions.copy(), left + taken, window, slack)
        return {"result": call(answer.no_mask_needed, *given)}

    given = f"np.array({positions.tolist()}), {left + taken}, {window}, {slack}"
    return Case(f"no_mask_needed({given})", run)


FULL = Exercise(
    id="chunk5-full",
    names=("no_mask_needed",),
    cases=_full_cases,
    reference=answers(no_mask_needed),
    mutants=(
        _mutant(
            "written-window",
            "the tokens written are counted against the window: tokens that were taken back count, "
            "too, and the slots for sinks fill last. Look at the slots",
            lambda positions, written, window, slack: slack == 0 and written >= window,
        ),
        _mutant(
            "written-slots",
            "the tokens written are counted against the slots: after tokens were taken back there "
            "are holes, whatever the count says. Look at the slots",
            lambda positions, written, window, slack: slack == 0 and written >= len(positions),
        ),
        _mutant(
            "count-alone",
            "the tokens written are counted against the window, and nothing else is asked",
            lambda positions, written, window, slack: written >= window,
        ),
        _mutant(
            "window-filled",
            "the window's worth of filled slots is thought enough: a slot for a sink may be empty "
            "still, and an empty slot needs the mask",
            lambda positions, written, window, slack: (
                slack == 0 and np.count_nonzero(positions >= 0) >= window
            ),
        ),
        _mutant(
            "exactly-window",
            "the filled slots must be as many as the window: with sinks there are more slots",
            lambda positions, written, window, slack: (
                slack == 0 and np.count_nonzero(positions >= 0) == window
            ),
        ),
        _mutant(
            "sinks-outside",
            "sinks are taken for tokens that left the window, or for slots too many: the newest "
            "token sees them, however far back they are",
            lambda positions, written, window, slack: (
                min(positions) >= 0 and min(positions) > max(positions) - window
            ),
        ),
        _mutant(
            "distance-alone",
            "only the distance from the newest token is asked for: an empty -1 looks like the "
            "position before 0, and a sink may be far away",
            lambda positions, written, window, slack: (max(positions) - positions < window).all(),
        ),
        _mutant(
            "slack-alone",
            "only slack is looked at: an empty slot needs the mask, too",
            lambda positions, written, window, slack: slack == 0,
        ),
        _mutant(
            "slack-ignored",
            "slack is ignored: in a full ring with slack the oldest slots have left the window",
            lambda positions, written, window, slack: (positions >= 0).all(),
        ),
        _mutant(
            "first-slot",
            "only the first slot is looked at: the others may be empty",
            lambda positions, written, window, slack: slack == 0 and positions[0] >= 0,
        ),
        _mutant(
            "truthy",
            "a position is read as True or False: 0 counts as False and the empty -1 as True. "
            "Compare with 0",
            lambda positions, written, window, slack: slack == 0 and positions.all(),
        ),
        _mutant(
            "above-zero",
            "position 0 is taken for empty: empty is -1",
            lambda positions, written, window, slack: slack == 0 and (positions > 0).all(),
        ),
        _mutant(
            "never",
            "a mask is always asked for: that is safe, and it throws the fast path away",
            lambda positions, written, window, slack: False,
        ),
        _mutant(
            "inverted",
            "True and False are swapped: True means that no mask is needed",
            lambda positions, written, window, slack: slack != 0 or (positions < 0).any(),
        ),
    ),
)
