"""Runs `pytest --nbval` on notebooks without its noise, for `ringkv check` and `ringkv status`."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ..progress import load
from .merge import merge
from .points import SELF_CHECK, CourseResult, FileResult
from .release import ReleasedLesson, lessons
from .submission import Unreadable, read_submission

__all__ = ["check", "run_quietly", "status"]

# Two plugins alone, and asserts as they are: whatever else is installed would cost seconds a start.
QUIET = (
    "--nbval", "-q", "--noconftest", "-o", "addopts=", "--assert=plain", "-p", "no:cacheprovider",
    "-p", "nbval.plugin", "-p", "ringkv_edu.grading.pytest_plugin",
)  # fmt: skip
ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
SLOW = "rfc3987_syntax"  # jsonschema compiles its grammar for a second if it is there


class _Sink:
    course = CourseResult()

    def pytest_sessionfinish(self, session: Any) -> None:
        reporter = session.config.pluginmanager.get_plugin("ringkv-reporter")
        self.course = reporter.course if reporter else CourseResult()


class _Sealed:
    """Hands a sealed run to the plugin before that looks for one."""

    def __init__(self, run: Any) -> None:
        self.run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self.run, "ringkv-sealed-run")


def check(paths: Sequence[Path]) -> CourseResult:
    """Run notebooks and give their points; raises ``RuntimeError`` with what pytest said.

    Runs in each notebook's folder and names the file alone, since pytest reads `[` and `::` in an
    argument as something else than a path.
    """
    course = CourseResult()
    for path in paths:
        course.files |= _check_one(path.resolve()).files
    return course


def _check_one(path: Path) -> CourseResult:
    course, said = run_quietly(path)
    if not course.files:
        raise RuntimeError(said.strip() or "pytest collected nothing")
    return course


def run_quietly(path: Path, sealed: Any = None) -> tuple[CourseResult, str]:
    """Run pytest with nbval on a notebook or a folder; give the points, and what pytest said.

    ``sealed`` is the run that it is part of, or nothing for a self-check.
    """
    sink, noise = _Sink(), io.StringIO()
    folder, name = (path, ".") if path.is_dir() else (path.parent, path.name)
    arguments = [*QUIET, "--rootdir", str(folder), f"./{name}"]
    plugins = [sink, _Sealed(sealed)] if sealed else [sink]
    quiet = contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise)
    with quiet[0], quiet[1], _inside(folder), _plainly():
        pytest.main(arguments, plugins=plugins)
    return sink.course, noise.getvalue()


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    """Keep out of a run what the learner's shell, or another package, would add to it."""
    before = {name: os.environ.pop(name, None) for name in ("PYTEST_ADDOPTS", ALONE)}
    os.environ[ALONE] = "1"
    absent = SLOW not in sys.modules
    if absent:
        sys.modules[SLOW] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if absent:
            del sys.modules[SLOW]
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def status(folder: Path) -> list[str]:
    """Say, for each lesson, how much is answered, solved and worth; untouched ones are not run."""
    hints = load(folder)["hints"]
    begun = [p for name in lessons() if _answered(p := folder / f"{name}.ipynb", lessons()[name])]
    results = check(begun).files.values() if begun else ()
    by_lesson = {result.lesson: result for result in results}
    lines = [f"{'lesson':<26} {'solved':>9} {'points':>9} {'hints':>6}"]
    for name, lesson in lessons().items():
        used = sum(int(hints.get(exercise, 0)) for exercise in lesson.answers())
        lines.append(_status_line(lesson, folder / f"{name}.ipynb", by_lesson.get(name), used))
    earned = sum(result.earned for result in by_lesson.values())
    worth = sum(lesson.points for lesson in lessons().values())
    return [*lines, f"{'course':<26} {'':>9} {f'{earned:g}/{worth}':>9}", SELF_CHECK]


def _status_line(lesson: ReleasedLesson, path: Path, result: FileResult | None, hints: int) -> str:
    rows = result.rows.values() if result else ()
    solved = f"{sum(row.earned == row.worth for row in rows)}/{len(lesson.graded)}"
    points = f"{result.earned if result else 0:g}/{lesson.points}"
    note = "" if result else "   no answers yet" if path.exists() else "   not in this folder"
    if result and result.problem:
        note = f"   cannot be read: {result.problem}"
    return f"{lesson.name:<26} {solved:>9} {points:>9} {hints:>6}{note}"


def _answered(path: Path, lesson: ReleasedLesson) -> bool:
    if not path.exists():
        return False
    try:
        return len(merge(lesson, read_submission(path)).states) < len(lesson.answers())
    except Unreadable:
        return True
