"""Lesson 02: cases that are the code they show, and attention with its steps left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import RingArrays, filled_arrays, numbers
from ..graded import draw
from .guard import call
from .model import Answer, Case

__all__ = ["GIVEN", "Array", "attention", "code_case", "root"]

Array = npt.NDArray[Any]
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


def root(keys: Array) -> float:
    """Give 1 / sqrt(head_dim)."""
    return float(keys.shape[-1] ** -0.5)


def attention(
    q: Array,
    keys: Array,
    values: Array,
    scale: Callable[[Array], float] = root,
    top: Callable[[Array], Any] = np.max,
    total: Callable[[Array], Any] = np.sum,
    seen: Array | None = None,
) -> Array:
    """Attend with one query over (slots, head_dim), with the steps that mutants change open.

    ``seen`` (slots,) bool, if given, is a mask: the other scores become minus infinity.
    """
    with np.errstate(all="ignore"):
        scores = keys @ q * scale(keys)
        if seen is not None:
            scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - top(scores))
        out: Array = weights / total(weights) @ values
    return out
