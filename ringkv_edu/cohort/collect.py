"""Finds the notebooks that were handed in: in folders, and in Canvas's and Moodle's zip files."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import zipfile
import zlib
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
DEEPEST = 40  # folders
MOST_NESTED = 100_000_000  # bytes of a zip file that a learner handed in
ASIDE = (".kept-",)  # copies that `ringkv reset` and `ringkv update` put aside
TOO_LARGE = "it is larger than 20 MB: clear its outputs and save it again"
ZIP_TOO_LARGE = "it is larger than 100 MB: hand in the notebooks themselves"
UNPACKING = (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError,
             ValueError)  # fmt: skip


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
        deep = len(Path(folder).relative_to(root).parts) >= DEEPEST
        folders[:] = sorted(name for name in folders if not (deep or name.startswith(".")))
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
    data, when, problem = _read(path, MOST_BYTES, TOO_LARGE)
    return _handed(_who(parts, otherwise), readable(path), data, when, problem)


def _read(path: Path, most: int, too_large: str) -> tuple[bytes, float, str]:
    """Read a file that a learner chose: it may be a link, or have no end."""
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return b"", 0.0, LINK
    if not stat.S_ISREG(info.st_mode):
        return b"", 0.0, "it is no file"
    if info.st_size > most:
        return b"", 0.0, too_large
    try:
        return path.read_bytes(), info.st_mtime, ""
    except OSError as error:
        return b"", info.st_mtime, f"it cannot be opened: {error.strerror}"


def _nested(path: Path, root: Path) -> Iterator[HandedIn]:
    """Give the notebooks of a zip file that a learner handed in."""
    parts = PurePosixPath(readable(path.relative_to(root))).parts
    about, where = _who(parts, path.stem), readable(path)
    data, when, problem = _read(path, MOST_NESTED, ZIP_TOO_LARGE)
    if problem:
        yield _handed(about, where, b"", when, problem)
        return
    yield from _theirs(data, where, path.stem, about)


def _theirs(
    data: bytes, where: str, stem: str, about: Download, depth: int = 0
) -> Iterator[HandedIn]:
    """Give what one learner's zip file holds; a broken one is theirs, and stops nobody else's."""
    try:
        found = list(_zip(data, where, stem, depth, MOST_NESTED))
    except Problem as error:
        yield _handed(about, where, b"", 0.0, str(error))
        return
    yield from (replace(one, learner=about.learner) for one in found)


def _zip(
    data: bytes, name: str, stem: str, depth: int = 0, most: int = MOST_UNPACKED
) -> Iterator[HandedIn]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Problem(f"{name} cannot be unpacked: {error}") from None
    if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > most:
        raise Problem(
            f"{name} unpacks to more than {most:,} bytes or {MOST_ENTRIES:,} files; "
            "take it apart first"
        )
    for entry in sorted(entries, key=lambda entry: entry.filename):
        parts = _parts(entry.filename)
        if not parts or any(part.startswith(".") or part == "__MACOSX" for part in parts):
            continue
        about = _who(parts, stem)
        where = f"{name}/{'/'.join(parts)}"
        if parts[-1].lower().endswith(".zip") and depth == 0:
            inner, problem = _unpacked(archive, entry, MOST_NESTED, ZIP_TOO_LARGE)
            if problem:
                yield _handed(about, where, b"", 0.0, problem)
            else:
                yield from _theirs(inner, where, PurePosixPath(parts[-1]).stem, about, 1)
        elif parts[-1].lower().endswith(".ipynb") and not any(m in parts[-1] for m in ASIDE):
            yield _entry(archive, entry, about, where)


def _entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, about: Download, where: str
) -> HandedIn:
    data, problem = _unpacked(archive, entry, MOST_BYTES, TOO_LARGE)
    when = float("".join(f"{part:02}" for part in entry.date_time))
    return _handed(about, where, data, when, problem)


def _unpacked(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int, too_large: str
) -> tuple[bytes, str]:
    """Give an entry's bytes, or why there are none."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        return b"", LINK
    if entry.file_size > most:
        return b"", too_large
    try:
        with archive.open(entry) as file:
            return file.read(most + 1), ""
    except UNPACKING as error:
        return b"", f"it cannot be unpacked: {error}"


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
