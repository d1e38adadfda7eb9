"""Reads a lesson: one jupytext percent file, the only place where a lesson is edited.

A cell's marker carries its ``id`` and, where it is not plain prose or code, its ``role``:

``answer``    the learner's cell. Lines between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` go
              to the solution; after an optional ``### STUB`` stand, as comments, the lines that the
              learner gets in their place (by default ``...  # your code here``).
``check``     calls ``check(...)``; its output is never compared.
``graded``    prints computed data from ``SEED = 0``; ``points`` says what it is worth.
``scene``     shows the learner's own cache; the theatre will stand here.
``volatile``  changes from run to run; its output is neither compared nor stored.
``hint``      markdown, three for each ``exercise``; kept out of the notebook.
``solution``  markdown with the reason, in `solutions/` only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import indent
from typing import Any

import jupytext

__all__ = ["BuildError", "Cell", "Lesson", "exercise_of", "read_lesson", "solved", "stub"]

ROLES = {
    "code": ("", "answer", "check", "graded", "scene", "volatile"),
    "markdown": ("", "hint", "solution"),
}
REGION = re.compile(
    r"^(?P<pad>[ \t]*)### BEGIN SOLUTION[ \t]*\n"
    r"(?P<body>.*?)"
    r"^[ \t]*### END SOLUTION[ \t]*(?P<end>\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
SPLIT = re.compile(r"^[ \t]*### STUB\n", re.MULTILINE)
IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class BuildError(Exception):
    """A lesson that must not be released; says which cell and why."""

    def __init__(self, lesson: str, cell: str, why: str) -> None:
        super().__init__(f"{lesson}, cell {cell}: {why}")


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson's source."""

    id: str
    kind: str  # "code" or "markdown"
    role: str
    source: str
    exercise: str = ""
    points: int = 0


@dataclass(frozen=True)
class Lesson:
    """A lesson's cells, and its hints apart from them."""

    name: str
    cells: tuple[Cell, ...]
    hints: dict[str, list[str]] = field(default_factory=dict)


def read_lesson(path: Path) -> Lesson:
    """Read one percent file; raises ``BuildError`` naming the cell that is not well formed."""
    book = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    cells: list[Cell] = []
    hints: dict[str, list[str]] = {}
    for place, raw in enumerate(book.cells):
        cell = _cell(path.stem, place, raw)
        if cell.role == "hint":
            hints.setdefault(cell.exercise, []).append(cell.source)
        else:
            cells.append(cell)
    return Lesson(path.stem, _named_apart(path.stem, cells), hints)


def exercise_of(cell: Cell) -> str:
    """Name the exercise that an answer, check or graded cell belongs to."""
    return cell.exercise or re.sub(r"-(check|graded|why|reason)$", "", cell.id)


def solved(source: str) -> str:
    """Give an answer cell as the solution has it."""
    return REGION.sub(lambda m: SPLIT.split(m["body"])[0].rstrip("\n") + m["end"], source)


def stub(source: str) -> str:
    """Give an answer cell as the learner gets it."""

    def replaced(match: re.Match[str]) -> str:
        parts = SPLIT.split(match["body"])
        if len(parts) == 1:
            return f"{match['pad']}...  # your code here{match['end']}"
        lines = [re.sub(r"^\s*# ?", "", line) for line in parts[1].splitlines()]
        kept = "\n".join(lines).strip("\n")
        return indent(kept, match["pad"]) + match["end"] if kept.strip() else ""

    return REGION.sub(replaced, source).rstrip("\n")


def _cell(lesson: str, place: int, raw: Any) -> Cell:
    given = dict(raw.metadata)
    role, exercise = str(given.get("role", "")), str(given.get("exercise", ""))
    name = str(given.get("id", f"{exercise}-reason" if role == "solution" else ""))
    shown = name or f"number {place}"
    if raw.cell_type not in ROLES or role not in ROLES[raw.cell_type]:
        raise BuildError(lesson, shown, f"a {raw.cell_type} cell has no role {role!r}")
    if role in ("hint", "solution") and not exercise:
        raise BuildError(lesson, shown, f'a {role} says which exercise: exercise="..."')
    if role != "hint" and not IDENTIFIER.fullmatch(name):
        raise BuildError(lesson, shown, 'needs id="..." of lower-case letters, digits and dashes')
    points = given.get("points", 0)
    if not isinstance(points, int):
        raise BuildError(lesson, shown, f"points={points!r}: give a whole number")
    return Cell(name, raw.cell_type, role, raw.source, exercise, points)


def _named_apart(lesson: str, cells: list[Cell]) -> tuple[Cell, ...]:
    """Put the lesson's number before ids that every lesson has, such as `setup`.

    So each id stands in one lesson only, and any one of them tells which lesson a file is.
    """
    exercises = {cell.id for cell in cells if cell.role == "answer"}
    return tuple(
        cell if exercise_of(cell) in exercises else replace(cell, id=f"{lesson[:2]}-{cell.id}")
        for cell in cells
    )
