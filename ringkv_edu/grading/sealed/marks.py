"""What one graded cell's outputs earn, as plain facts for a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..release import ReleasedLesson, source_of
from .credit import credit, mistake_of
from .oracle import Oracle

__all__ = ["marks", "printed_by"]


def marks(
    lesson: ReleasedLesson, cell: str, oracle: Oracle, outputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Say which lines of a graded cell are right, and which known mistake prints exactly this."""
    released = next(one for one in lesson.cells("graded") if one["id"] == cell)
    mistakes = oracle.mistakes.get(cell.removesuffix("-graded"), ())
    printed = printed_by(outputs)
    known = printed_by(released["outputs"]), oracle.untouched[cell]
    found = credit(oracle.references[cell], printed, known, mistakes)
    raised = "".join(f"\n!{one['ename']}" for one in outputs if one["output_type"] == "error")
    mistake = mistake_of(printed + raised, mistakes)
    facts = {"share": str(found.share), "right": found.right, "lines": found.lines}
    named = {"mistake": mistake.name, "sentence": mistake.sentence} if mistake else {}
    return facts | named


def printed_by(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Give what a cell printed: its standard output alone."""
    streams = (one for one in outputs if one["output_type"] == "stream")
    return "".join(source_of({"source": one["text"]}) for one in streams if one["name"] == "stdout")
