"""Builds everything, or says what is not as the sources would build it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .books import learner_book, solution_book, text_of
from .execute import execute
from .lint import check_books, check_lesson
from .source import BuildError, Lesson, read_lesson

__all__ = ["Built", "build", "build_lesson", "course_root", "differences", "write"]

RELEASE = Path("ringkv_edu", "release")


@dataclass(frozen=True)
class Built:
    """What one lesson's source builds."""

    lesson: Lesson
    learner: str
    solution: str


def course_root(start: Path | None = None) -> Path:
    """Find the course's sources; raises ``FileNotFoundError`` with what to do."""
    package = Path(__file__).resolve().parents[2]
    for folder in (start or Path.cwd(), package):
        if (folder / "course" / "lessons").is_dir():
            return folder
    raise FileNotFoundError(
        "there is no course/lessons here: `ringkv build` works in a clone of the course, where "
        "the lessons are written"
    )


def build_lesson(path: Path) -> Built:
    """Build one lesson in memory; raises ``BuildError`` for one that must not be released."""
    figures = path.parents[1] / "figures"
    lesson = read_lesson(path)
    check_lesson(lesson)
    solution, doubts = execute(lesson, solution_book(lesson, figures))
    learner = learner_book(lesson, solution, figures)
    check_books(lesson, learner, solution, doubts)
    return Built(lesson, text_of(learner), text_of(solution))


def build(root: Path, tell: Callable[[str], None] = lambda line: None) -> dict[Path, str]:
    """Build every lesson; gives each generated file's text by its path below ``root``."""
    files: dict[Path, str] = {}
    hints: dict[str, list[str]] = {}
    home: dict[str, str] = {}
    for path in sorted((root / "course" / "lessons").glob("[0-9][0-9]_*.py")):
        tell(f"building {path.stem}")
        built = build_lesson(path)
        for cell in built.lesson.cells:
            if home.setdefault(cell.id, path.stem) != path.stem:
                raise BuildError(path.stem, cell.id, f"{home[cell.id]} has a cell of this name")
        name = f"{path.stem}.ipynb"
        files[Path("notebooks", name)] = files[RELEASE / name] = built.learner
        files[Path("solutions", name)] = built.solution
        hints |= built.lesson.hints
    files[RELEASE / "hints.json"] = json.dumps(hints, indent=1, ensure_ascii=False) + "\n"
    return files


def differences(root: Path, files: dict[Path, str]) -> list[str]:
    """Say which generated files are missing, changed or left over."""
    found = []
    for path, text in files.items():
        on_disk = root / path
        if not on_disk.exists():
            found.append(f"{path.as_posix()} is missing")
        elif on_disk.read_bytes() != text.encode():
            found.append(f"{path.as_posix()} is not what the sources build")
    return found + [f"{path.as_posix()} has no source" for path in _left_over(root, files)]


def write(root: Path, files: dict[Path, str]) -> list[Path]:
    """Write what changed, remove what has no source any more; gives the paths touched."""
    changed = [p for p, text in files.items() if not _same(root / p, text)]
    for path in changed:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(files[path].encode())
    stale = _left_over(root, files)
    for path in stale:
        (root / path).unlink()
    return changed + stale


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_bytes() == text.encode()


def _left_over(root: Path, files: dict[Path, str]) -> list[Path]:
    folders = {path.parent for path in files}
    on_disk = [p.relative_to(root) for folder in folders for p in (root / folder).glob("*.ipynb")]
    return sorted(path for path in on_disk if path not in files)
