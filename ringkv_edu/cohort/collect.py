"""Finds the notebooks that were handed in: in folders, and in Canvas's and Moodle's zip files."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..grading.points import readable
from ..grading.release import lessons
from ..grading.submission import LINK, MOST_BYTES
from ..problem import Problem
from .people import Download, Learner, Roster, from_download, learner_named

__all__ = ["HandedIn", "collect"]

MOST_ENTRIES, MOST_UNPACKED = 20_000, 2_000_000_000
ASIDE = (".kept-",)  # copies that `ringkv reset` and `ringkv update` put aside
TOO_LARGE = "it is larger than 20 MB: clear its outputs and save it again"


@dataclass(frozen=True)
class HandedIn:
    """One file. ``order`` puts a resubmission behind what it supersedes."""

    learner: Learner
    source: str  # where it was found, for people
    file: str
    data: bytes
    order: tuple[int, float, str]
    late: bool = False
    problem: str = ""

    @property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.data).hexdigest()


def collect(arguments: Sequence[Path], roster: Roster | None = None) -> list[HandedIn]:
    """Give every notebook below some folders, in zip files, or named itself, by learner."""
    found = [one for path in arguments for one in _of(path)]
    if roster:
        found = [replace(one, learner=roster.find(one.learner) or one.learner) for one in found]
    return sorted(found, key=lambda one: (one.learner, one.file, one.order, one.source))


def _of(path: Path) -> Iterator[HandedIn]:
    if not path.exists():
        raise Problem(f"{path} does not exist; give folders, notebooks or zip files")
    if path.is_dir():
        yield from _folder(path)
    elif path.suffix.lower() == ".zip":
        yield from _zip(path.read_bytes(), path.name, path.stem)
    elif path.suffix.lower() == ".ipynb":
        yield _file(path, path.parent, path.resolve().parent.name)
    else:
        raise Problem(f"{path} is neither a folder, nor a notebook, nor a zip file")


def _folder(root: Path) -> Iterator[HandedIn]:
    handed_in = root / "submitted"  # an nbgrader course
    root = handed_in if handed_in.is_dir() else root
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if name.startswith(".") or any(mark in name for mark in ASIDE):
                continue
            if name.lower().endswith(".ipynb"):
                yield _file(path, root, root.resolve().name)
            elif name.lower().endswith(".zip"):
                yield from _nested(path, root)


def _file(path: Path, root: Path, otherwise: str) -> HandedIn:
    parts = PurePosixPath(readable(path.relative_to(root))).parts
    about = _who(parts, otherwise)
    problem, data, when = "", b"", 0.0
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        problem = LINK
    elif not stat.S_ISREG(info.st_mode):
        problem = "it is no file"
    elif info.st_size > MOST_BYTES:
        problem = TOO_LARGE
    else:
        when = info.st_mtime
        try:
            data = path.read_bytes()
        except OSError as error:
            problem = f"it cannot be opened: {error.strerror}"
    return _handed(about, readable(path), data, when, problem)


def _nested(path: Path, root: Path) -> Iterator[HandedIn]:
    """Give the notebooks of a zip file that a learner handed in."""
    parts = PurePosixPath(readable(path.relative_to(root))).parts
    about = _who(parts, path.stem)
    for one in _zip(path.read_bytes(), readable(path), path.stem):
        yield replace(one, learner=about.learner)


def _zip(data: bytes, name: str, stem: str, depth: int = 0) -> Iterator[HandedIn]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Problem(f"{name} cannot be unpacked: {error}") from None
    if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise Problem(f"{name} unpacks to more than {MOST_UNPACKED:,} bytes; take it apart first")
    for entry in sorted(entries, key=lambda entry: entry.filename):
        parts = _parts(entry.filename)
        if not parts or any(part.startswith(".") or part == "__MACOSX" for part in parts):
            continue
        about = _who(parts, stem)
        where = f"{name}/{'/'.join(parts)}"
        if parts[-1].lower().endswith(".zip") and depth == 0:
            inner = _zip(archive.read(entry), where, PurePosixPath(parts[-1]).stem, 1)
            yield from (replace(one, learner=about.learner) for one in inner)
        elif parts[-1].lower().endswith(".ipynb") and not any(m in parts[-1] for m in ASIDE):
            yield _entry(archive, entry, about, where)


def _entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, about: Download, where: str
) -> HandedIn:
    data, problem = b"", ""
    if stat.S_ISLNK(entry.external_attr >> 16):
        problem = LINK
    elif entry.file_size > MOST_BYTES:
        problem = TOO_LARGE
    else:
        try:
            with archive.open(entry) as file:
                data = file.read(MOST_BYTES + 1)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
            problem = f"it cannot be unpacked: {error}"
    when = float("".join(f"{part:02}" for part in entry.date_time))
    return _handed(about, where, data, when, problem)


def _parts(name: str) -> tuple[str, ...]:
    """Split a zip entry's name; nothing is ever written to it, so `..` is only left out."""
    cleaned = readable(Path(name.replace("\\", "/")))
    return tuple(part for part in PurePosixPath(cleaned).parts if part not in ("/", "..", "."))


def _handed(about: Download, source: str, data: bytes, when: float, problem: str) -> HandedIn:
    order = (about.again, when, source)
    return HandedIn(about.learner, source, about.file, data, order, about.late, problem)


def _who(parts: Sequence[str], otherwise: str) -> Download:
    """Say whose a file is: by a download's name, by its first folder, or by its own name.

    Only the first part counts: what lies below it is a learner's to name.
    """
    if (about := from_download(parts[0])) is not None:
        return replace(about, file=parts[-1] if len(parts) > 1 else about.file or parts[0])
    if len(parts) > 1:
        return Download(learner_named(parts[0]), parts[-1])
    return Download(learner_named(_without_lesson(parts[0]) or otherwise), parts[0])


def _without_lesson(name: str) -> str:
    """Take a lesson's name out of a file's name: ``ann_02_numpy_ring.ipynb`` is ann's."""
    stem = PurePosixPath(name).stem
    for lesson in lessons():
        if lesson in stem:
            return stem.replace(lesson, "").strip(" _-.")
    return stem
