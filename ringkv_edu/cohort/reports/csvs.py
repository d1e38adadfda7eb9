"""Two CSV files for spreadsheets: one line a learner, and one line an exercise.

They follow RFC 4180. Where nothing was sealed, a last column says so. A spreadsheet runs a text
that begins like a formula, so such a text gets an apostrophe first (OWASP, "CSV Injection");
numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from ..gradebook import UNSEALED, Book
from .files import cleaned
from .words import by_lesson, notes, points

__all__ = ["BOM", "Cell", "csv_text", "exercises", "grades", "marked", "safe"]

BOM = "\ufeff"  # by which a spreadsheet knows UTF-8
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
Cell = str | int | float


def grades(book: Book) -> str:
    """Give one line for each learner; a lesson that was not handed in is an empty cell."""
    rows: list[Sequence[Cell]] = [["id", "name", "email", *book.lessons, "total", "worth", "notes"]]
    for learner in book.everyone():
        results = by_lesson(book, learner)
        marks = [results[n].earned if n in results else "" for n in book.lessons]
        said = "; ".join(notes(book, learner))
        who = learner.id, learner.name, learner.email
        rows.append([*who, *marks, book.earned(learner), book.worth, said])
    return BOM + csv_text(marked(book, rows))


def exercises(book: Book) -> str:
    """Give one line for each learner and exercise, with what cost points."""
    rows: list[Sequence[Cell]] = [
        ["id", "name", "lesson", "exercise", "points", "worth", "lines_right", "lines",
         "cause", "mistake", "sentence", "hints", "late", "seed"]
    ]  # fmt: skip
    for learner in book.everyone():
        for lesson, result in by_lesson(book, learner).items():
            late = "late" if any(one.late and one.counts for one in result.files) else ""
            for one in result.exercises:
                rows.append(
                    [learner.id, learner.name, lesson, one.exercise, one.earned, one.worth,
                     one.right, one.lines, one.cause, one.mistake, one.sentence,
                     result.hints.get(one.exercise, 0), late, result.seed]
                )  # fmt: skip
    return BOM + csv_text(marked(book, rows))


def marked(book: Book, rows: Sequence[Sequence[Cell]]) -> Sequence[Sequence[Cell]]:
    """Add a column that says NOT SEALED, where that is so."""
    if book.sealed:
        return rows
    head, *others = rows
    return [[*head, UNSEALED], *([*row, book.sealing] for row in others)]


def csv_text(rows: Iterable[Sequence[Cell]], guarded: bool = True) -> str:
    """Write rows as CSV. Texts are guarded against being run, unless they are to stay as found."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in rows:
        writer.writerow([_written(cell, guarded) for cell in row])
    return out.getvalue()


def safe(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def _written(cell: Cell, guarded: bool) -> str:
    if not isinstance(cell, str):
        return str(cell) if isinstance(cell, int) else points(cell)
    return safe(cleaned(cell)) if guarded else cell
