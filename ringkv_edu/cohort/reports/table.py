"""The table that `ringkv grade` prints: everyone's points, the commonest mistakes, the seal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from ...grading.explain import clean
from ..gradebook import Book
from ..people import Learner
from .words import by_lesson, notes, points

__all__ = ["commonest", "table"]

WIDEST_ID, WIDEST_NOTE, MOST_MISTAKES = 28, 200, 5
ABSENT = "-"


def table(book: Book, more: Iterable[str] = ()) -> list[str]:
    """Draw the table; ``more`` are lines of other reports that stand before the last one."""
    head = ["learner", *(name[:2] for name in book.lessons), "total", "notes"]
    rows = [head, *(_row(book, learner) for learner in book.everyone())]
    mistakes = [
        f"  {count} × {exercise}: as if {sentence}"
        for exercise, sentence, count in commonest(book)[:MOST_MISTAKES]
    ]
    blocks = [_aligned(rows)]
    blocks += [["The commonest mistakes of the class:", *mistakes]] if mistakes else []
    blocks += [lines] if (lines := [clean(line, WIDEST_NOTE) for line in more]) else []
    spaced = [line for block in blocks for line in [*block, ""]]
    return [*spaced, book.sealing]


def commonest(book: Book) -> list[tuple[str, str, int]]:
    """Give the mistakes of all exercises, with their sentences, the commonest first."""
    found = [
        (exercise, sentence, count)
        for exercise, some in book.mistakes().items()
        for _, sentence, count in some
    ]
    return sorted(found, key=lambda one: (-one[2], one[0], one[1]))


def _row(book: Book, learner: Learner) -> list[str]:
    results = by_lesson(book, learner)
    marks = [
        f"{points(results[name].earned)}/{results[name].worth}" if name in results else ABSENT
        for name in book.lessons
    ]
    total = f"{points(book.earned(learner))}/{book.worth}"
    said = clean("; ".join(notes(book, learner)), WIDEST_NOTE)
    return [clean(learner.id, WIDEST_ID), *marks, total, said]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Set columns below each other: the first and the last to the left, numbers to the right."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for place, (text, width) in enumerate(zip(row, widths, strict=True)):
            blank = " " * (width - _width(text))
            cells.append(text + blank if place in (0, len(row) - 1) else blank + text)
        lines.append("  ".join(cells).rstrip())
    return lines


def _width(text: str) -> int:
    """Count a terminal's columns: East Asian characters take two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)
