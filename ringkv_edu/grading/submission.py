"""Reads a learner's notebook, however it was saved, and says which lesson it is.

Nothing in the file is believed but the source of its cells, found by their ids.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .release import lesson_of_cell, lessons, source_of

__all__ = [
    "LINK",
    "Submission",
    "SubmittedCell",
    "Unreadable",
    "is_linked",
    "lesson_named",
    "read_submission",
]

MOST_BYTES, MOST_VALUES = 20_000_000, 2_000_000
LINK = "it is a link to another file: hand in the notebook itself"
CONFLICT = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class Unreadable(Exception):
    """A file that holds no notebook; the text says why and what to do."""


@dataclass(frozen=True)
class SubmittedCell:
    """What is looked at in one cell of a submission."""

    id: str
    grade_id: str
    kind: str
    source: str
    raw: dict[str, Any]


@dataclass(frozen=True)
class Submission:
    """A readable notebook. ``lesson`` is empty when it is none of ours."""

    lesson: str
    kind: str  # "solution" where the file says it is one; it changes no points
    cells: tuple[SubmittedCell, ...]
    release: str = ""  # the release that the file says it was made from


def read_submission(path: Path) -> Submission:
    """Read a notebook file; raises ``Unreadable`` with a reason a learner can act on."""
    data = _parsed(_text(path))
    cells = tuple(_cell(raw) for raw in _raw_cells(data))
    about = _dict(_dict(data.get("metadata")).get("ringkv"))
    lesson = _lesson(cells, str(about.get("lesson", "")), path)
    return Submission(lesson, str(about.get("kind", "")), cells, str(about.get("release", "")))


def is_linked(path: Path, tops: Iterable[Path]) -> bool:
    """Say whether a path, or a folder between it and the top it was found below, is a link.

    Where a link leads is not the learner's: a solution, or another learner's notebook.
    """
    above = next((top for top in tops if path.is_relative_to(top)), path)
    between = [path, *(p for p in path.parents if p.is_relative_to(above))]
    return any(part.is_symlink() for part in between)


def lesson_named(path: Path) -> str:
    """Say which lesson a file that cannot be read seems to be, by its name or its raw text."""
    for name in lessons():
        if path.name.startswith(name):
            return name
    try:
        raw = path.read_bytes() if path.is_file() else b""
    except OSError:
        return ""
    text = raw[:MOST_BYTES].decode("utf-8", errors="ignore")
    found = Counter(lesson for cell, lesson in lesson_of_cell().items() if f'"{cell}"' in text)
    return found.most_common(1)[0][0] if found else ""


def _text(path: Path) -> str:
    if not path.is_file():  # a pipe would never end, a folder cannot be read
        raise Unreadable("this is not a file")
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"the file cannot be opened: {error.strerror}") from None
    if len(raw) > MOST_BYTES:
        raise Unreadable("the file is larger than 20 MB: clear its outputs and save it again")
    if not raw.strip():
        raise Unreadable("the file is empty")
    if raw.count(b",") + raw.count(b"[") + raw.count(b"{") > MOST_VALUES:
        raise Unreadable("the file holds millions of values: clear its outputs and save it again")
    encoding = next((name for mark, name in BOMS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable("the file is not UTF-8 text: save it again from JupyterLab") from None
    if CONFLICT.search(text):
        raise Unreadable("the file has git merge-conflict markers: resolve the conflict first")
    return text


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except RecursionError:
        raise Unreadable("the file is nested too deeply to be a notebook") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"the file is not a notebook: its JSON is broken{where}") from None
    if not isinstance(data, dict) or not ("cells" in data or "worksheets" in data):
        raise Unreadable("the file is not a notebook: it has no cells")
    return data


def _raw_cells(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the cells of a version 4 notebook, or of the older version 3 with its worksheets."""
    sheets = data.get("worksheets")
    groups = (
        [data.get("cells")] if sheets is None else [_dict(s).get("cells") for s in _list(sheets)]
    )
    cells = [cell for group in groups for cell in _list(group)]
    return [cell for cell in cells if isinstance(cell, dict)]


def _cell(raw: dict[str, Any]) -> SubmittedCell:
    grader = _dict(_dict(raw.get("metadata")).get("nbgrader"))
    source = source_of(raw if "source" in raw else {"source": raw.get("input", "")})
    kind = str(raw.get("cell_type", ""))
    return SubmittedCell(str(raw.get("id", "")), str(grader.get("grade_id", "")), kind, source, raw)


def _lesson(cells: tuple[SubmittedCell, ...], stated: str, path: Path) -> str:
    """Recognise a lesson by any one of its cell ids, its metadata, its name, or its cells' text."""
    known = lesson_of_cell()
    found = Counter(
        known[name] for cell in cells for name in {cell.id, cell.grade_id} if name in known
    )
    if found:
        return found.most_common(1)[0][0]
    if stated in lessons():
        return stated
    named = next((name for name in lessons() if path.name.startswith(name)), "")
    return named or _by_text(cells)


def _by_text(cells: tuple[SubmittedCell, ...]) -> str:
    texts = {cell.source.strip() for cell in cells}
    for name, lesson in lessons().items():
        ours = {source_of(c).strip() for role in ("check", "graded") for c in lesson.cells(role)}
        if ours & texts:
            return name
    return ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
