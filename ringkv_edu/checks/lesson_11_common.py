"""Lesson 11: what the lines of its cases may use, and what is looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..duel.memory import Memory, entry_bytes
from ..given_duel import drawn_memory, drawn_query, held, named_memory
from ..graded import draw
from .code_case import GIVEN as ALWAYS_GIVEN
from .code_case import code_case
from .model import Case, answers

__all__ = ["Loop", "after", "bound", "looping"]

GIVEN = {
    **ALWAYS_GIVEN,
    "Memory": Memory,
    "draw": draw,
    "drawn_memory": drawn_memory,
    "drawn_query": drawn_query,
    "entry_bytes": entry_bytes,
    "held": held,
    "named_memory": named_memory,
}
Loop = Callable[[Memory], None]


def after(line: str, name: str, look: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Case:
    """Make a case from a line that leaves ``memory`` changed by the answer."""
    return code_case(line, name, look, (0,), GIVEN)


def bound(space: dict[str, Any]) -> Mapping[str, Any]:
    """Look at what the memory holds, and whether that fits."""
    memory = space["memory"]
    return {
        "held": held(memory),
        "bytes over the budget": max(0, memory.used - memory.budget),
        "bytes read back": memory.moved,
    }


def looping(name: str, once: Callable[..., None]) -> dict[str, Any]:
    """Make an answer that does one thing again and again until the memory fits."""

    def answer(memory: Memory, *rest: int) -> None:
        while memory.used > memory.budget:
            once(memory, *rest)

    return answers(**{name: answer})
