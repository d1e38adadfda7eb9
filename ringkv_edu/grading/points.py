"""Adds up points per exercise, lesson and course; the totals are the release's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from .explain import clean
from .merge import UNTOUCHED
from .release import lessons
from .sealed.credit import rounded

__all__ = ["SELF_CHECK", "CourseResult", "FileResult", "Row", "readable", "shown", "table"]

LONGEST_PATH = 4000
SELF_CHECK = "This is a self-check with the seed that you can see. Points that count use another."


@dataclass
class Row:
    """One graded exercise in one file; what stands below ``cause`` is known after a sealed run."""

    exercise: str
    worth: int
    earned: float = 0
    cause: str = "not run"
    right: int = 0
    lines: int = 0
    mistake: str = ""
    sentence: str = ""


@dataclass
class FileResult:
    """One notebook. ``problem`` says why it could not be read, or is empty."""

    path: Path
    lesson: str
    rows: dict[str, Row] = field(default_factory=dict)
    problem: str = ""

    def __post_init__(self) -> None:
        if self.lesson:
            graded = lessons()[self.lesson].graded
            self.rows = {cell.id: Row(cell.exercise, cell.points) for cell in graded}

    @property
    def earned(self) -> float:
        """Points earned in this notebook."""
        return round(sum(row.earned for row in self.rows.values()), 2)

    @property
    def worth(self) -> int:
        """Points the release gives for this lesson."""
        return sum(row.worth for row in self.rows.values())


@dataclass
class CourseResult:
    """Every notebook of a run, by path."""

    files: dict[str, FileResult] = field(default_factory=dict)
    closing: str = SELF_CHECK

    def note(self, facts: dict[str, object], passed: bool) -> None:
        """Take in one cell's report; a graded cell that passed earns its points."""
        path, lesson = str(facts["file"]), str(facts["lesson"])
        result = self.files.setdefault(path, FileResult(Path(path), lesson))
        cell = str(facts["cell"])
        if not cell:
            result.problem = str(facts["cause"])
            for row in result.rows.values():
                row.cause = "the file cannot be read"
        elif cell in result.rows:
            row = result.rows[cell]
            row.earned = row.worth if passed else _share(row.worth, facts)
            row.cause = "" if passed else str(facts.get("cause", row.cause))
            row.right, row.lines = int(str(facts.get("right", 0))), int(str(facts.get("lines", 0)))
            row.mistake, row.sentence = (str(facts.get(k, "")) for k in ("mistake", "sentence"))


def readable(path: Path) -> str:
    """Write a path in characters that any report can hold, whatever bytes its name has."""
    return clean(os.fsencode(path).decode("utf-8", errors="replace"), LONGEST_PATH)


def shown(path: Path, root: Path) -> str:
    """Write a path from ``root`` on, where it lies below it."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def table(course: CourseResult, root: Path) -> list[str]:
    """Draw the points of a run, one line an exercise, with one line of cause for each lost one."""
    lines: list[str] = []
    for result in course.files.values():
        lines += [*_file_lines(result, root), ""]
    if len(course.files) > 1 or not any(r.problem for r in course.files.values()):
        lines += _course_lines(course, root)
    causes = [row.cause for result in course.files.values() for row in result.rows.values()]
    if causes and set(causes) == {UNTOUCHED}:
        first = next(iter(course.files.values()))
        lines.append(f"Nothing is solved yet: begin with the first exercise of {first.path.name}.")
    return [*lines, course.closing]


def _file_lines(result: FileResult, root: Path) -> list[str]:
    lines = [shown(result.path, root)]
    if result.problem:
        return [
            *lines,
            f"  cannot be read: {result.problem}",
            f"  {'lesson':<18} 0/{result.worth or '?'}",
        ]
    for row in result.rows.values():
        mark = f"{row.earned:g}/{row.worth}"
        lines.append(f"  {row.exercise:<18} {mark:<6} {row.cause}".rstrip())
        if row.sentence:
            lines.append(f"  {'':<18} {'':<6} as if {row.sentence}")
    return [*lines, f"  {'lesson':<18} {result.earned:g}/{result.worth}"]


def _share(worth: int, facts: Mapping[str, object]) -> float:
    return rounded(worth, Fraction(str(facts.get("share", 0))))


def _course_lines(course: CourseResult, root: Path) -> list[str]:
    """Give a line for each folder, which is one learner's, with each lesson at most once."""
    lines = []
    for folder in dict.fromkeys(result.path.parent for result in course.files.values()):
        here = [r for r in course.files.values() if r.path.parent == folder and r.lesson]
        names = [result.lesson for result in here]
        if names and len(set(names)) == len(names):
            several = len(course.files) > len(here)
            lines.append(_course_line(here, shown(folder, root) if several else ""))
    return lines


def _course_line(results: Iterable[FileResult], folder: str) -> str:
    results = list(results)
    worth = sum(lesson.points for lesson in lessons().values())
    absent = [name[:2] for name in lessons() if name not in {r.lesson for r in results}]
    some = "lessons" if len(absent) > 1 else "lesson"
    left_out = f"   ({some} {', '.join(absent)} not in this run)" if absent else ""
    name = f"course, {folder}" if folder else "course"
    return f"{name:<20} {sum(r.earned for r in results):g}/{worth}{left_out}"
