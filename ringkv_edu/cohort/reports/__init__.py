"""Everything that is written from a cohort's results. The same results give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..gradebook import Book
from . import canvas, csvs, moodle
from .class_page import class_page
from .files import file_name, write
from .junit import junit
from .learner_page import learner_page
from .lms import Filled
from .nbgrader_csv import nbgrader_csv
from .table import table

__all__ = ["Systems", "write_all"]

LEARNERS = "learners"


@dataclass(frozen=True)
class Systems:
    """What is known of the course in Canvas and Moodle: exports to fill, and a name."""

    gradebook: canvas.Gradebook | None = None
    assignment: str = ""
    worksheet: moodle.Worksheet | None = None


def write_all(book: Book, folder: Path, systems: Systems | None = None) -> list[str]:
    """Write every report below ``folder``; give lines for the terminal."""
    systems = systems or Systems()
    gradebook, sheet = systems.gradebook, systems.worksheet
    filled = {
        "canvas.csv": canvas.fill(book, gradebook)
        if gradebook
        else canvas.plain(book, systems.assignment),
        "moodle.csv": moodle.fill(book, sheet) if sheet else moodle.plain(book),
    }
    said = [line for name, one in filled.items() for line in _said(name, one)]
    files = {name: one.text for name, one in filled.items()}
    files["grades.json"] = json.dumps(book.to_dict(), indent=1, ensure_ascii=False) + "\n"
    files |= {"grades.csv": csvs.grades(book), "exercises.csv": csvs.exercises(book)}
    files |= {"junit.xml": junit(book), "nbgrader.csv": nbgrader_csv(book)}
    files["class.html"] = class_page(book, said)
    pages = {f"{file_name(one.id)}.html": learner_page(book, one) for one in book.everyone()}
    for name, text in (
        files | {f"{LEARNERS}/{name}": text for name, text in pages.items()}
    ).items():
        write(folder / name, text)
    for stale in (folder / LEARNERS).glob("*.html"):  # of a run over other learners
        if stale.name not in pages:
            stale.unlink()
    listed = f"{', '.join(sorted(files))}, {LEARNERS}/ (one page each)"
    return table(book, [*said, f"Reports are in {folder}: {listed}"])


def _said(name: str, one: Filled) -> Iterator[str]:
    yield from one.lines
    for learner in one.unmatched:
        yield f"{name}: no line there for {learner.id}"
