"""Who a learner is: by a file's place, by a download's name, and by a roster if there is one."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..problem import Problem

__all__ = ["Learner", "Roster", "from_download", "learner_named", "read_roster"]

# Canvas: leeann_LATE_123_456_notebook-2.ipynb (user id, submission id, and -2 for the second again)
CANVAS = re.compile(
    r"^(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<number>\d+)_(?P<file>.+?)"
    r"(?:-(?P<again>\d+))?(?P<suffix>\.\w+)$"
)
# Moodle: "Ann Lee_789_assignsubmission_file_" as a folder, or before the file's own name
MOODLE = re.compile(
    r"^(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)$"
)
COLUMNS = {
    "id": ("id", "learner", "student", "student id", "sis user id", "login", "username"),
    "name": ("name", "full name", "student name"),
    "email": ("email", "email address"),
    "canvas": ("canvas", "canvas id", "canvas_id"),
    "moodle": ("moodle", "moodle id", "moodle_id", "identifier", "participant"),
}


@dataclass(frozen=True, order=True)
class Learner:
    """One learner. ``id`` is what reports and seeds use; ``name`` is for people."""

    id: str
    name: str = ""
    canvas: str = ""
    moodle: str = ""
    email: str = ""


@dataclass(frozen=True)
class Download:
    """What the name that Canvas or Moodle gave to a download says."""

    learner: Learner
    file: str
    again: int = 0
    late: bool = False


@dataclass(frozen=True)
class Roster:
    """The learners of a course, found by any of their ids or their name."""

    learners: tuple[Learner, ...]

    def find(self, guess: Learner) -> Learner | None:
        """Give the learner of the roster whom a guess means, by id before name; or none."""
        for field in ("canvas", "moodle", "id", "name"):
            wanted = getattr(guess, field)
            found = [one for one in self.learners if wanted and getattr(one, field) == wanted]
            if len(found) == 1:
                return found[0]
        return None


def from_download(name: str) -> Download | None:
    """Read a file's or folder's name as Canvas or Moodle gives it to a download, or give none."""
    name = unicodedata.normalize("NFC", name)
    if found := MOODLE.match(name):
        user = found["user"]
        return Download(Learner(f"moodle-{user}", found["name"], moodle=user), found["file"])
    if found := CANVAS.match(name):
        user = found["user"]
        learner = Learner(f"canvas-{user}", found["name"], canvas=user)
        file = found["file"] + found["suffix"]
        return Download(learner, file, int(found["again"] or 0), bool(found["late"]))
    return None


def learner_named(name: str) -> Learner:
    """Make a learner of a folder's or a file's name, however its accents are encoded."""
    name = unicodedata.normalize("NFC", name).strip()
    return Learner(name, name)


def read_roster(path: Path) -> Roster:
    """Read a CSV file with a column ``id`` and, if wanted, name, email, canvas and moodle ids."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Problem(f"{path} is not UTF-8 text; save it as CSV UTF-8") from None
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        raise Problem(f"{path} is empty; a roster has a column `id` and a line for each learner")
    places = _places(rows[0])
    if "id" not in places:
        known = ", ".join(COLUMNS["id"])
        raise Problem(f"{path} has the columns {', '.join(rows[0])}; one of {known} is needed")
    learners = [_learner(row, places) for row in rows[1:] if any(cell.strip() for cell in row)]
    twice = _twice(one.id for one in learners)
    if twice or any(not one.id for one in learners):
        raise Problem(f"{path}: each line needs an id of its own; {twice or 'one is empty'}")
    return Roster(tuple(learners))


def _places(head: list[str]) -> Mapping[str, int]:
    names = [cell.strip().lower() for cell in head]
    found = {}
    for field, known in COLUMNS.items():
        place = next((names.index(name) for name in known if name in names), None)
        if place is not None:
            found[field] = place
    return found


def _learner(row: list[str], places: Mapping[str, int]) -> Learner:
    def cell(field: str) -> str:
        place = places.get(field)
        text = row[place] if place is not None and place < len(row) else ""
        return unicodedata.normalize("NFC", text).strip()

    moodle = cell("moodle").removeprefix("Participant ")
    return Learner(cell("id"), cell("name") or cell("id"), cell("canvas"), moodle, cell("email"))


def _twice(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f"{name!r} stands there twice"
        seen.add(name)
    return ""
