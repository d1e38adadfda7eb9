"""Lesson 09: what the lines of its cases may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from ..given_beyond import Pool, drawn_block, fork, serve, start, tokens_of
from ..given_numpy import numbers
from ..graded import draw
from .code_case import code_case
from .model import Case

__all__ = ["call_case", "form_of", "line_case"]

GIVEN = {
    "Pool": Pool,
    "deepcopy": deepcopy,
    "draw": draw,
    "drawn_block": drawn_block,
    "fork": fork,
    "np": np,
    "numbers": numbers,
    "serve": serve,
    "start": start,
    "tokens_of": tokens_of,
}
Look = Callable[[dict[str, Any]], Mapping[str, Any]]


def line_case(line: str, name: str, look: Look, may_change: tuple[int, ...] = ()) -> Case:
    """Make a case from a line that a learner may paste, in a notebook with this lesson's setup."""
    return code_case(line, name, look, may_change, GIVEN)


def call_case(call: str, name: str) -> Case:
    """Make a case from a call whose result is compared."""
    return line_case(f"out = {call}", name, lambda space: {"result": space["out"]})


def form_of(result: Any) -> str:
    """Give an array's shape in words, or what stands in its place."""
    if isinstance(result, np.ndarray | np.generic):
        return f"shape {list(result.shape)}"
    return f"{type(result).__name__}, not an array"
