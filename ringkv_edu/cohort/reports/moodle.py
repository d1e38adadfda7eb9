"""A file that Moodle imports: an assignment's grading worksheet, filled, or one for the gradebook.

The worksheet's format is that of "Assignment settings: Feedback types, Offline grading worksheet"
and "Using Assignment" in MoodleDocs, the other file's that of "Grade import". Moodle finds a line
by the number in Identifier and needs Last modified (grade) to see whether a grade is newer. Older
releases read a worksheet with commas alone, so commas are written whatever the export had.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...grading.explain import clean
from ...problem import Problem
from ..gradebook import Book
from ..people import Learner
from .csvs import Cell, csv_text, marked, safe
from .lms import Filled, Rule, matches, name_key, number, read_csv, scaled
from .words import by_lesson, outcome, points, untouched

__all__ = ["Worksheet", "fill", "plain", "read_worksheet", "short"]

IDENTIFIER, GRADE, MODIFIED = "Identifier", "Grade", "Last modified (grade)"
NAME, ID, EMAIL = "Full name", "ID number", "Email address"
MOST, OPEN, COMMENTS = "Maximum Grade", "Grade can be changed", "Feedback comments"
NEEDED = (IDENTIFIER, GRADE, MODIFIED)
KNOWN = (*NEEDED, NAME, ID, EMAIL, MOST, OPEN, COMMENTS)
LONGEST, LONGEST_CAUSE = 1500, 160
RULES: tuple[Rule, ...] = (
    (lambda row: re.findall(r"(\d+)\s*$", row[IDENTIFIER]), lambda one: [one.moodle]),
    (lambda row: [row[ID], row[EMAIL]], lambda one: [one.id, one.email]),
    (lambda row: [name_key(row[NAME])], lambda one: [name_key(one.name)]),
)


@dataclass(frozen=True)
class Worksheet:
    """A grading worksheet; ``places`` says where each known column stands."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    places: dict[str, int]

    def cell(self, row: Sequence[str], column: str) -> str:
        """Give a cell, or an empty text where there is no such column."""
        return row[self.places[column]] if column in self.places else ""


def read_worksheet(path: Path) -> Worksheet:
    """Read a worksheet as Moodle exports it, however a spreadsheet has saved it since."""
    head, *rows = read_csv(path)
    names = [cell.strip().casefold() for cell in head]
    places = {one: names.index(one.casefold()) for one in KNOWN if one.casefold() in names}
    missing = [one for one in NEEDED if one not in places]
    if missing:
        raise Problem(
            f"{path} has no column {', '.join(missing)}: give the grading worksheet of an "
            "assignment, downloaded while Moodle's language is English"
        )
    filled = (tuple([*row, *[""] * (len(head) - len(row))]) for row in rows if any(row))
    sheet = Worksheet(tuple(head), tuple(filled), places)
    for most in (sheet.cell(row, MOST) for row in sheet.rows):
        if most.strip() and number(most) is None:
            raise Problem(f"{path} has {most!r} as Maximum Grade, a scale; points are needed")
    return sheet


def fill(book: Book, sheet: Worksheet) -> Filled:
    """Fill Grade and Feedback comments for everyone who handed something in."""
    people = [{name: sheet.cell(row, name) for name in KNOWN} for row in sheet.rows]
    whose = matches(people, book.learners, RULES)
    rows: list[Sequence[Cell]] = [sheet.head]
    said = [f"moodle.csv: {len(whose)} filled"]
    scales = set()
    for i, row in enumerate(sheet.rows):
        who = people[i][NAME] or people[i][IDENTIFIER]
        cells = list(row)
        if i not in whose:
            said.append(f"moodle.csv: left as it was, nothing handed in: {who}")
        elif people[i][OPEN].strip().casefold() == "no":
            said.append(f"moodle.csv: left as it was, its grade is locked: {who}")
        else:
            most = number(people[i][MOST])
            scales |= {most} - {None, float(book.worth)}
            cells[sheet.places[GRADE]] = scaled(book, whose[i], most)
            if COMMENTS in sheet.places:
                cells[sheet.places[COMMENTS]] = safe(short(book, whose[i]))
        rows.append(cells)
    for most in sorted(filter(None, scales)):
        said.insert(1, f"moodle.csv: scaled from {book.worth} to the grade's {points(most)} points")
    unmatched = tuple(sorted(set(book.learners) - set(whose.values())))
    return Filled(csv_text(marked(book, rows), guarded=False), tuple(said), unmatched)


def plain(book: Book) -> Filled:
    """Write a file for the gradebook's CSV import, which asks what each column is."""
    rows: list[Sequence[Cell]] = [[IDENTIFIER, ID, NAME, EMAIL, GRADE, "Feedback"]]
    for learner in sorted(book.learners):
        made_up = learner.moodle and learner.id == f"moodle-{learner.moodle}"
        number = f"Participant {learner.moodle}" if learner.moodle else ""
        who = number, "" if made_up else learner.id, learner.name, learner.email
        rows.append([*who, book.earned(learner), short(book, learner)])
    return Filled(csv_text(marked(book, rows)))


def short(book: Book, learner: Learner) -> str:
    """Say in a few sentences what a learner got and what cost points.

    Moodle shows it as HTML, so what could be read as a tag is escaped.
    """
    text = clean(" ".join(_sentences(book, learner)), LONGEST)
    return html.escape(text, quote=False)


def _sentences(book: Book, learner: Learner) -> Iterator[str]:
    if not book.sealed:
        yield f"{book.sealing}."
    yield f"{points(book.earned(learner))} of {book.worth} points."
    for lesson, result in by_lesson(book, learner).items():
        yield f"{lesson}: {points(result.earned)} of {result.worth}."
        if result.problem:
            yield f"{clean(result.problem, LONGEST_CAUSE)}."
            continue
        for one in result.exercises:
            if (lost := outcome(one)) and not untouched(one):
                mark = f"{points(one.earned)}/{one.worth}"
                yield f"{one.exercise} {mark}: {clean(lost, LONGEST_CAUSE)}."
        if blank := [one.exercise for one in result.exercises if untouched(one)]:
            yield f"Not solved yet: {', '.join(blank)}."
