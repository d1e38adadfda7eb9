"""Lesson 06: cases that are the code they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..given_rope import turned
from ..given_summaries import Bank, PrefixSlidingCache
from .code_case import CASE, code_case
from .code_case import GIVEN as ALWAYS_GIVEN
from .compare import plain
from .guard import call
from .model import Answer, Case

__all__ = ["GIVEN", "class_case", "line_case"]

GIVEN = {
    **ALWAYS_GIVEN,
    "Bank": Bank,
    "PrefixSlidingCache": PrefixSlidingCache,
    "turned": turned,
}


def line_case(line: str, name: str, before: str = "") -> Case:
    """Make a case from a call, such as ``attend(q, keys)``, that may be pasted.

    ``name`` is the learner's function in it, which must not change what it is given. ``before``
    makes what the call is given.
    """
    case = code_case(
        f"{before}out = {line}", name, lambda space: {"result": space["out"]}, given=GIVEN
    )
    return replace(case, given=f"{before}{line}")


def class_case(
    name: str, look: Callable[[dict[str, Any]], Mapping[str, Any]], *statements: str
) -> Case:
    """Make a case of statements that use a learner's class; ``look`` is asked after each.

    Its labels are shown as they are, followed by the statement before.
    """
    codes = [compile(statement, CASE, "exec") for statement in statements]

    def run(answer: Answer) -> dict[str, Any]:
        space: dict[str, Any] = {**GIVEN, name: partial(call, getattr(answer, name))}
        out: dict[str, Any] = {}
        for statement, code in zip(statements, codes, strict=True):
            exec(code, space)
            for label, seen in look(space).items():
                out[f"{label} after {statement}"] = plain(seen)  # it changes later
        return out

    return Case("; ".join(statements), run)
