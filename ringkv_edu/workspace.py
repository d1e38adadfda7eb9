"""A learner's course folder: filled from the release, refreshed, brought up to a newer release.

Nothing here ever writes over work: a file that is replaced is kept beside the new one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .grading.merge import answer_cells
from .grading.release import ReleasedLesson, digest, lessons, released_text, source_of
from .grading.submission import Submission, Unreadable, read_submission
from .progress import MARKER

__all__ = ["WorkspaceError", "fill", "lesson_name", "notebook_of", "reset", "update"]


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
        about = (
            json.loads(path.read_text(encoding="utf-8-sig")).get("metadata", {}).get("ringkv", {})
        )
    except (Unreadable, ValueError, AttributeError) as error:
        return f"left as it is: {error}"
    if about.get("release") == lesson.book["metadata"]["ringkv"]["release"]:
        return "up to date"
    book = json.loads(released_text(lesson.name))
    answers = _carry_answers(book, lesson, old)
    own = _carry_own_cells(book, old)
    kept = _keep(path)
    _write(path, json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    carried = f"{answers} answers and {own} cells of your own carried over"
    return f"updated, {carried}; other changes of yours are in the old file: {kept.name}"


def _carry_answers(book: dict[str, Any], lesson: ReleasedLesson, old: Submission) -> int:
    written = {
        name: cell.source
        for name, cell in answer_cells(lesson, old).items()
        if digest(cell.source) != cell.raw.get("metadata", {}).get("ringkv", {}).get("stub")
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
        ours = "ringkv" in cell.raw.get("metadata", {}) or cell.id in places
        if not ours and (cell.kind == "code" or _is_own_text(cell.id)) and cell.source.strip():
            place = places.get(behind, len(book["cells"]) - 1)
            book["cells"].insert(place + 1, _clean(cell.raw, cell.id, places))
            carried += 1
        behind = cell.id or behind
    return carried


def _is_own_text(cell_id: str) -> bool:
    """Say whether a markdown cell is the learner's: the release's ids are words, not random."""
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", cell_id) is not None


def _clean(raw: dict[str, Any], cell_id: str, taken: dict[str, int]) -> dict[str, Any]:
    name = cell_id or "own"
    while name in taken:
        name += "x"
    cell = {"cell_type": raw["cell_type"], "id": name, "metadata": {}, "source": source_of(raw)}
    return cell | ({"outputs": [], "execution_count": None} if raw["cell_type"] == "code" else {})


def _keep(path: Path) -> Path:
    number = 1
    while (kept := path.with_name(f"{path.stem}.kept-{number}.ipynb")).exists():
        number += 1
    path.rename(kept)
    return kept


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
