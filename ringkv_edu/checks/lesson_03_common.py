"""Lesson 03: cases that are the code they show, looked at after every call of the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..given_attention import attend_at
from ..given_chunks import TwoCounters, place
from .code_case import GIVEN as ALWAYS_GIVEN
from .code_case import code_case
from .model import Answer, Case

__all__ = ["GIVEN", "SLIPS", "filled", "watched_case"]

GIVEN = {
    **ALWAYS_GIVEN,
    "TwoCounters": TwoCounters,
    "attend_at": attend_at,
    "place": place,
}
SLIPS = (  # Python's own errors; other errors are raised on purpose
    ArithmeticError,
    AttributeError,
    LookupError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
)
Labels = Mapping[str, Any]


def filled(
    seen: int, window: int, kv_heads: int = 1, sinks: int = 0, slack: int = 0, taken_back: int = 0
) -> str:
    """Write the call of filled_arrays, without what is as it is by default."""
    wanted = {"kv_heads": kv_heads - 1, "sinks": sinks, "slack": slack, "taken_back": taken_back}
    sizes = {name: size for name, size in wanted.items() if size}
    if "kv_heads" in sizes:
        sizes["kv_heads"] = kv_heads
    named = "".join(f", {name}={size}" for name, size in sizes.items())
    return f"filled_arrays({seen}, rng, {window}{named})"


def watched_case(
    line: str,
    name: str,
    watch: Callable[..., Labels],
    end: Callable[[dict[str, Any]], Labels] = lambda space: {},
) -> Case:
    """Make a case from a line of code that calls ``name`` once or more.

    ``watch(number, function, *arguments)`` makes each call and gives what is to be compared;
    ``end`` gives what the whole line left. Where ``watch`` catches an error the line goes on; in
    a notebook it ends there, so only its last call should be one that a right answer refuses so.
    """

    def run(answer: Answer) -> Labels:
        shown: dict[str, Any] = {}
        calls = 0

        def watched(*given: Any) -> None:
            nonlocal calls
            calls += 1
            shown.update(watch(calls, getattr(answer, name), *given))

        case = code_case(line, name, end, may_change=(0,), given=GIVEN)
        left = case.run(Answer(**{name: watched}))
        return {**shown, **left}

    return Case(line, run)
