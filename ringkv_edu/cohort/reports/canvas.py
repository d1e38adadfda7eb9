"""A file that Canvas's gradebook imports.

The format is that of "How do I import grades in the Gradebook?" and "How do I export grades in the
Gradebook?" in the Canvas Instructor Guide: Student, ID, SIS User ID, SIS Login ID, Section, then
assignments as "Name (number)"; a line may say which are posted by hand, one says what they are
worth. An empty cell would delete a grade, so what is not filled is written as it was exported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...problem import Problem
from ..gradebook import UNSEALED, Book
from ..people import Learner
from .csvs import Cell, csv_text
from .lms import Filled, Rule, matches, name_key, number, read_csv, scaled
from .words import points

__all__ = ["Gradebook", "fill", "plain", "read_gradebook"]

DEFAULT_NAME = "Ring-buffer KV cache"
STUDENT = ("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID",
           "Integration ID", "Root Account", "Section")  # fmt: skip
TITLE = re.compile(r"(?P<title>.+) \((?P<id>\d+)\)", re.DOTALL)
POSSIBLE, READ_ONLY = "Points Possible", "(read only)"
POSTING = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)
LEFT_ALONE = {"EX": "excused", "N/A": "not assigned"}
TEST_STUDENT = "Student, Test"
RULES: tuple[Rule, ...] = (
    (lambda row: [row["ID"]], lambda one: [one.canvas]),
    (lambda row: [row["SIS User ID"], row["SIS Login ID"]], lambda one: [one.id, one.email]),
    (lambda row: [name_key(row["Student"])], lambda one: [name_key(one.name)]),
)


@dataclass(frozen=True)
class Gradebook:
    """An exported gradebook, cut to the columns that an import needs; ``column`` comes last."""

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def column(self) -> str:
        """The assignment's column."""
        return self.head[-1]

    def person(self, row: Sequence[str]) -> dict[str, str]:
        """Give what a line says about a student."""
        found = dict.fromkeys(STUDENT, "") | dict(zip(self.head[:-1], row, strict=False))
        found["Student"] = found["Student"] or f"{found['LastName']}, {found['FirstName']}"
        return found


def read_gradebook(path: Path, assignment: str) -> Gradebook:
    """Read a gradebook as Canvas exports it, and find an assignment by its name or number."""
    head, *rows = read_csv(path)
    head = [cell.strip() for cell in head]
    if "ID" not in head or not {"Student", "LastName"} & set(head):
        columns = ", ".join(head[:6])
        raise Problem(f"{path} has the columns {columns}; Canvas exports Student, ID and more")
    place = _assignment(path, head, assignment)
    kept = [*(i for i, name in enumerate(head) if name in STUDENT), place]
    cut = (tuple(row[i] if i < len(row) else "" for i in kept) for row in rows)
    needed = tuple(row for row in cut if any(cell.strip() for cell in row))
    return Gradebook(path.name, tuple(head[i] for i in kept), needed)


def _assignment(path: Path, head: Sequence[str], wanted: str) -> int:
    titles = {i: title for i, name in enumerate(head) if (title := TITLE.fullmatch(name))}
    low = wanted.strip().casefold()
    fit = [
        place
        for place, title in titles.items()
        if low in ("", title[0].casefold(), title["title"].casefold(), title["id"])
    ]
    if len(fit) == 1:
        return fit[0]
    known = "; ".join(head[i] for i in titles) or "none"
    several = "several assignments" if wanted and fit else "no one assignment"
    raise Problem(
        f"{path}: --canvas-assignment {wanted!r} names {several}; it has: {known}. "
        "Give a name, or the number in brackets"
    )


def fill(book: Book, gradebook: Gradebook) -> Filled:
    """Fill an assignment's column with the points of everyone who handed something in."""
    kinds = [_kind(row) for row in gradebook.rows]
    people = [gradebook.person(row) for row in gradebook.rows]
    students = [i for i, kind in enumerate(kinds) if kind == "student"]
    found = matches([people[i] for i in students], book.learners, RULES)
    whose = {students[place]: learner for place, learner in found.items()}
    possible = next(
        (number(row[-1]) for row, k in zip(gradebook.rows, kinds, strict=True) if k == "possible"),
        None,
    )
    most = possible or None
    rows: list[Sequence[Cell]] = [gradebook.head]
    for i, row in enumerate(gradebook.rows):
        left = i not in whose or row[-1].strip() in LEFT_ALONE
        rows.append(row if left else (*row[:-1], scaled(book, whose[i], most)))
    text = csv_text(_marked(book, rows, [*kinds]), guarded=False)
    unmatched = tuple(sorted(set(book.learners) - set(whose.values())))
    empty = [people[i]["Student"] for i in students if i not in whose]
    alone = [(people[i]["Student"], gradebook.rows[i][-1].strip()) for i in whose]
    said = _said(book, gradebook, len(whose), most, empty, alone)
    return Filled(text, tuple(said), unmatched)


def _kind(row: Sequence[str]) -> str:
    if POSSIBLE in row[0]:
        return "possible"
    return "posting" if all(POSTING.fullmatch(cell) for cell in row) else "student"


def _marked(book: Book, rows: list[Sequence[Cell]], kinds: list[str]) -> list[Sequence[Cell]]:
    """Add a column that says NOT SEALED; Canvas passes over one that is read only."""
    if book.sealed:
        return rows
    cells = {"possible": READ_ONLY, "posting": "", "student": book.sealing}
    more = [UNSEALED, *(cells[kind] for kind in kinds)]
    return [[*row, cell] for row, cell in zip(rows, more, strict=True)]


def _said(
    book: Book, gradebook: Gradebook, filled: int, most: float | None,
    empty: list[str], alone: list[tuple[str, str]],
) -> Iterator[str]:  # fmt: skip
    yield f"canvas.csv: {gradebook.column}: {filled} filled"
    if most and most != book.worth:
        yield f"canvas.csv: scaled from {book.worth} to the assignment's {points(most)} points"
    for who, cell in alone:
        if cell in LEFT_ALONE:
            yield f"canvas.csv: left as it was, {LEFT_ALONE[cell]}: {who}"
    for who in empty:
        if who != TEST_STUDENT:
            yield f"canvas.csv: left as it was, nothing handed in: {who}"


def plain(book: Book, assignment: str) -> Filled:
    """Write the file from what is known of the learners, where there is no export to fill.

    Canvas looks for an ID, then for a SIS id, then for a login, then for a name; a learner's id
    stands where either of the second and third is looked for.
    """
    rows: list[Sequence[Cell]] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment or DEFAULT_NAME],
        [f"    {POSSIBLE}", "", "", "", "", book.worth],
    ]
    for learner in sorted(book.learners):
        rows.append([learner.name, learner.canvas, *_sis(learner), "", book.earned(learner)])
    kinds = ["possible", *("student" for _ in rows[2:])]
    return Filled(csv_text(_marked(book, rows, kinds)))


def _sis(learner: Learner) -> tuple[str, str]:
    made_up = learner.canvas and learner.id == f"canvas-{learner.canvas}"
    return ("", "") if made_up else (learner.id, learner.id)
