"""Lesson 07: what the lines of its cases may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..given_model import Layer, Stack, attended, drawn_layer, write
from ..given_numpy import filled_arrays, numbers
from ..given_rope import turned
from ..graded import draw
from .code_case import code_case
from .compare import kind, plain
from .model import Case

__all__ = ["call_case", "form_of", "line_case"]

GIVEN = {
    "Layer": Layer,
    "Stack": Stack,
    "attended": attended,
    "draw": draw,
    "drawn_layer": drawn_layer,
    "filled_arrays": filled_arrays,
    "np": np,
    "numbers": numbers,
    "turned": turned,
    "write": write,
}
Look = Callable[[dict[str, Any]], Mapping[str, Any]]


def line_case(line: str, name: str, look: Look, may_change: tuple[int, ...] = ()) -> Case:
    """Make a case from a line that a learner may paste, in a notebook with this lesson's setup."""
    return code_case(line, name, look, may_change, GIVEN)


def call_case(call: str, name: str, may_change: tuple[int, ...] = ()) -> Case:
    """Make a case from a call whose result is compared."""
    return line_case(f"out = {call}", name, lambda space: {"result": space["out"]}, may_change)


def form_of(result: Any) -> str | None:
    """Give an array's shape in words, or what stands in its place."""
    if result is None:
        return None
    if isinstance(result, np.ndarray | list | tuple):
        try:
            return f"shape {list(np.shape(result))}"
        except ValueError:
            return "a list of parts of different lengths"
    return f"{kind(plain(result))}, not an array"
