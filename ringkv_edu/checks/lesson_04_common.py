"""Lesson 04: cases that are the call they show."""

from __future__ import annotations

from dataclasses import replace

from .code_case import code_case
from .model import Case

__all__ = ["array", "line_case"]


def line_case(line: str, name: str) -> Case:
    """Make a case from a call, such as ``rotate(np.array([1, 0]), 1)``, that may be pasted.

    ``name`` is the learner's function in it, which must not change what it is given.
    """
    case = code_case(f"out = {line}", name, lambda space: {"result": space["out"]})
    return replace(case, given=line)


def array(value: object) -> str:
    """Write a list as the code of a NumPy array."""
    return f"np.array({value})"
