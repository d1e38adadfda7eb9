"""A learner's course folder: filled from the release, refreshed, brought up to a newer release.

Nothing here ever writes over work: a file that is replaced is kept beside the new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from itertools import count
from pathlib import Path
from typing import Any

from .grading.merge import answer_cells
from .grading.release import ReleasedLesson, digest, lessons, released_text
from .grading.submission import Submission, SubmittedCell, Unreadable, read_submission
from .progress import MARKER

__all__ = ["WorkspaceError", "fill", "lesson_name", "notebook_of", "reset", "update"]

RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]+)?")  # what JupyterLab and nbformat give new cells


class WorkspaceError(Exception):
    """Something asked for cannot be done; says what was given and what to do."""


def fill(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy every lesson that the folder lacks; give the new files and those left as they were."""
    if folder.exists() and not folder.is_dir():
        raise WorkspaceError(f"{folder} is a file: give a folder for your copies of the lessons")
    (folder / MARKER).mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.ipynb" for name in lessons()]
    kept = [path for path in paths if path.exists()]
    new = [path for path in paths if path not in kept]
    for path in new:
        _write(path, released_text(path.stem))
    return new, kept


def lesson_name(text: str) -> str:
    """Find a lesson by its number, its name or its file; raises ``WorkspaceError``."""
    wanted = Path(text).name.removesuffix(".ipynb")
    number = wanted.zfill(2) if wanted.isdigit() else ""
    found = [name for name in lessons() if wanted == name or number == name.split("_")[0]]
    if not found:
        raise WorkspaceError(f"there is no lesson {text!r}; there are {', '.join(lessons())}")
    return found[0]


def notebook_of(folder: Path, lesson: str) -> Path:
    """Give the learner's notebook of a lesson; raises ``WorkspaceError`` when it is not there."""
    path = folder / f"{lesson}.ipynb"
    if not path.exists():
        raise WorkspaceError(f"{path} does not exist: `ringkv start {folder}` puts it there")
    return path


def reset(folder: Path, lesson: str) -> Path | None:
    """Put a fresh copy of a lesson into the folder; give the path where the old one is kept."""
    path = folder / f"{lesson}.ipynb"
    kept = _keep(path) if path.exists() else None
    folder.mkdir(parents=True, exist_ok=True)
    _write(path, released_text(lesson))
    return kept


def update(folder: Path) -> list[str]:
    """Bring every notebook to this release; answers and cells of the learner's own are carried.

    Gives one line for each lesson.
    """
    if not (folder / MARKER).is_dir():
        raise WorkspaceError(f"{folder} is no course folder: `ringkv start {folder}` makes one")
    return [
        f"{name}: {_update_one(folder / f'{name}.ipynb', lessons()[name])}" for name in lessons()
    ]


def _update_one(path: Path, lesson: ReleasedLesson) -> str:
    if not path.exists():
        _write(path, released_text(lesson.name))
        return "new, copied"
    try:
        old = read_submission(path)
    except Unreadable as error:
        return f"left as it is: {error}"
    if old.release == lesson.book["metadata"]["ringkv"]["release"] and _complete(lesson, old):
        return "up to date"
    book = json.loads(released_text(lesson.name))
    answers = _carry_answers(book, lesson, old)
    own = _carry_own_cells(book, old)
    text = json.dumps(book, indent=1, sort_keys=True) + "\n"
    kept = _keep(path)
    _write(path, text)
    carried = f"{answers} answers and {own} cells of your own carried over"
    return f"updated, {carried}; other changes of yours are in the old file: {kept.name}"


def _complete(lesson: ReleasedLesson, old: Submission) -> bool:
    return {cell["id"] for cell in lesson.book["cells"]} <= {cell.id for cell in old.cells}


def _about(cell: SubmittedCell) -> dict[str, Any]:
    """Give what the builder noted in a cell; nothing in a file is sure to be well formed."""
    metadata = cell.raw.get("metadata")
    about = metadata.get("ringkv") if isinstance(metadata, dict) else None
    return about if isinstance(about, dict) else {}


def _carry_answers(book: dict[str, Any], lesson: ReleasedLesson, old: Submission) -> int:
    written = {
        name: cell.source
        for name, cell in answer_cells(lesson, old).items()
        if digest(cell.source) != _about(cell).get("stub") and cell.kind == "code"
    }
    for cell in book["cells"]:
        if cell["id"] in written:
            cell["source"] = written[cell["id"]].splitlines(keepends=True)
    return len(written)


def _carry_own_cells(book: dict[str, Any], old: Submission) -> int:
    """Put cells that no release made behind the cell they stood behind, or at the end."""
    carried, behind = 0, ""
    for cell in old.cells:
        places = {c["id"]: place for place, c in enumerate(book["cells"])}
        if not _is_released(cell, places) and cell.source.strip():
            place = places.get(behind, len(book["cells"]) - 1)
            new = _clean(cell, places)
            book["cells"].insert(place + 1, new)
            behind, carried = new["id"], carried + 1
        else:
            behind = cell.id or behind
    return carried


def _is_released(cell: SubmittedCell, places: dict[str, int]) -> bool:
    """Say whether a release made a cell. A copy of one has our metadata, but an id of its own."""
    return cell.id in places or ("role" in _about(cell) and not RANDOM_ID.fullmatch(cell.id))


def _clean(cell: SubmittedCell, taken: dict[str, int]) -> dict[str, Any]:
    name = cell.id if re.fullmatch(r"[\w-]{1,60}", cell.id) else "own"
    while name in taken:
        name += "x"
    kind = cell.kind if cell.kind in ("code", "markdown", "raw") else "raw"
    new: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": cell.source}
    if isinstance(cell.raw.get("attachments"), dict):
        new["attachments"] = cell.raw["attachments"]
    return new | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def _keep(path: Path) -> Path:
    """Copy a file to a name beside it that is not taken, and give that name."""
    for number in count(1):
        kept = path.with_name(f"{path.stem}.kept-{number}.ipynb")
        with contextlib.suppress(FileExistsError), kept.open("xb") as file:
            file.write(path.read_bytes())
            return kept
    raise AssertionError  # count() does not end


def _write(path: Path, text: str) -> None:
    """Write a whole file or none: a crash in between leaves the old one."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(text.encode("utf-8"))
    os.replace(new, path)
