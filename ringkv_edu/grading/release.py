"""The released lessons, as they were built: what is run, what is compared, what it is worth."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = [
    "SEALED_ROLES",
    "GradedCell",
    "ReleasedLesson",
    "digest",
    "lesson_of_cell",
    "lessons",
    "released_text",
    "role_of",
    "source_of",
    "with_seed",
]

SEALED_ROLES = ("given", "answer", "graded")  # the cells that a sealed run runs
SEED_LINE = re.compile(r"^SEED = 0$", re.MULTILINE)


@dataclass(frozen=True)
class GradedCell:
    """One graded cell: its id, the exercise it belongs to, and its points."""

    id: str
    exercise: str
    points: int


@dataclass(frozen=True)
class ReleasedLesson:
    """One released notebook, as plain JSON data, and what can be earned in it."""

    name: str
    book: dict[str, Any]
    graded: tuple[GradedCell, ...]

    @property
    def points(self) -> int:
        """What the whole lesson is worth."""
        return sum(cell.points for cell in self.graded)

    def cells(self, role: str) -> Iterator[dict[str, Any]]:
        """Give the code cells with one role: answer, check, graded, given, scene or volatile."""
        for cell in self.book["cells"]:
            if role_of(cell) == role:
                yield cell

    def answers(self) -> dict[str, str]:
        """Give the stub of each answer cell, by its id, which is the exercise's."""
        return {cell["id"]: source_of(cell) for cell in self.cells("answer")}


def role_of(cell: Mapping[str, Any]) -> str:
    """Give a cell's role in its lesson, empty for a cell that is none of the course's."""
    return str(cell["metadata"].get("ringkv", {}).get("role", ""))


def source_of(cell: dict[str, Any]) -> str:
    """Give a cell's source, which a file may hold as one string or as a list of lines."""
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def with_seed(source: str, seed: int) -> str:
    """Put a seed into a graded cell."""
    return SEED_LINE.sub(f"SEED = {seed}", source)


def digest(text: str) -> str:
    """Give a short fingerprint of a text, blanks around it apart."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def released_text(lesson: str) -> str:
    """Give the released notebook's file, as it was built."""
    return str(_folder().joinpath(f"{lesson}.ipynb").read_text(encoding="utf-8"))


@cache
def lessons() -> dict[str, ReleasedLesson]:
    """Give every released lesson, by name, in order."""
    names = sorted(
        p.name[: -len(".ipynb")] for p in _folder().iterdir() if p.name.endswith(".ipynb")
    )
    return {name: _lesson(name) for name in names}


@cache
def lesson_of_cell() -> dict[str, str]:
    """Say which lesson each cell id belongs to. The builder keeps ids apart."""
    return {cell["id"]: name for name, lesson in lessons().items() for cell in lesson.book["cells"]}


def _folder() -> Any:
    return resources.files("ringkv_edu").joinpath("release")


def _lesson(name: str) -> ReleasedLesson:
    book = json.loads(released_text(name))
    graded = tuple(
        GradedCell(
            cell["id"], cell["id"].removesuffix("-graded"), cell["metadata"]["nbgrader"]["points"]
        )
        for cell in book["cells"]
        if role_of(cell) == "graded"
    )
    return ReleasedLesson(name, book, graded)
