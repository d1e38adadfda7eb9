"""Cases that are the line of code they show, so that a learner can paste one and look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..given_numpy import RingArrays, filled_arrays, numbers
from ..graded import draw
from .guard import call
from .model import Answer, Case

__all__ = ["CASE", "GIVEN", "code_case"]

CASE = str(Path(__file__).with_name("case"))  # a name in here: no step of the learner's
GIVEN = {
    "RingArrays": RingArrays,
    "draw": draw,
    "filled_arrays": filled_arrays,
    "np": np,
    "numbers": numbers,
}


def code_case(
    line: str,
    name: str,
    look: Callable[[dict[str, Any]], Mapping[str, Any]],
    may_change: tuple[int, ...] = (),
    given: Mapping[str, Any] = GIVEN,
) -> Case:
    """Make a case from the line of code that a learner may paste to see it again.

    ``name`` is the learner's function that the line calls; ``look`` gives what the line left to be
    compared. ``may_change`` says which arguments the function is meant to change; ``given`` holds
    what else the line may use.
    """
    code = compile(line, CASE, "exec")

    def run(answer: Answer) -> Mapping[str, Any]:
        space = {**given, name: partial(call, getattr(answer, name), may_change=may_change)}
        exec(code, space)
        return look(space)

    return Case(line, run)
