"""The table that ``nbgrader export`` writes, from our results ("Exporting grades" in its guide)."""

from __future__ import annotations

from collections.abc import Sequence

from ...grading.release import lessons
from ..gradebook import Book
from ..people import Learner
from .csvs import Cell, csv_text, marked
from .nbgrader import folders
from .words import by_lesson

__all__ = ["COLUMNS", "nbgrader_csv"]

COLUMNS = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
           "raw_score", "late_submission_penalty", "score", "max_score")  # fmt: skip


def nbgrader_csv(book: Book) -> str:
    """Give one line for each lesson and learner; who handed in nothing has 0, as in nbgrader.

    A learner's id is the name of the folder that `--nbgrader` makes for submissions.
    """
    ids = folders(book)
    rows: list[Sequence[Cell]] = [COLUMNS]
    for name in book.lessons:
        for learner in book.everyone():
            results = by_lesson(book, learner)
            score = str(float(results[name].earned)) if name in results else "0.0"
            who = ids[learner.id], *_names(learner), learner.email
            worth = str(float(lessons()[name].points))
            rows.append([name, "", "", *who, score, "0.0", score, worth])
    return csv_text(marked(book, rows))


def _names(learner: Learner) -> tuple[str, str]:
    """Split a name as nbgrader does: last and first; a name in one piece is the last."""
    last, comma, first = learner.name.partition(", ")
    if comma:
        return last, first
    first, _, last = learner.name.rpartition(" ")
    return last, first
