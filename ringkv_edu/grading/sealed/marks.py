"""What one graded cell's outputs earn, as plain facts for a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..release import ReleasedLesson, source_of
from .credit import credit, mistake_of, telling_lines
from .oracle import Oracle

__all__ = ["earning", "marks", "printed_by"]


def marks(
    lesson: ReleasedLesson, cell: str, oracle: Oracle, outputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Say which lines of a graded cell are right, and which known mistake prints exactly this."""
    mistakes = oracle.mistakes.get(cell.removesuffix("-graded"), ())
    printed = printed_by(outputs)
    found = credit(oracle.references[cell], printed, _known(lesson, cell, oracle), mistakes)
    raised = "".join(f"\n!{one['ename']}" for one in outputs if one["output_type"] == "error")
    mistake = mistake_of(printed + raised, mistakes)
    facts = {"share": str(found.share), "right": found.right, "lines": found.lines}
    named = {"mistake": mistake.name, "sentence": mistake.sentence} if mistake else {}
    return facts | named


def earning(lesson: ReleasedLesson, cell: str, oracle: Oracle) -> list[bool]:
    """Say of each line of a graded cell's reference whether it can earn anything."""
    mistakes = oracle.mistakes.get(cell.removesuffix("-graded"), ())
    known = [text.splitlines() for text in _known(lesson, cell, oracle)]
    wrong = [one.printed.splitlines() for one in mistakes]
    return telling_lines(oracle.references[cell].splitlines(), known, wrong)


def _known(lesson: ReleasedLesson, cell: str, oracle: Oracle) -> tuple[str, str]:
    """Give the texts that earn nothing: the one that the release shows, and the stub's."""
    released = next(one for one in lesson.cells("graded") if one["id"] == cell)
    return printed_by(released["outputs"]), oracle.untouched[cell]


def printed_by(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Give what a cell printed: its standard output alone."""
    streams = (one for one in outputs if one["output_type"] == "stream")
    return "".join(source_of({"source": one["text"]}) for one in streams if one["name"] == "stdout")
