"""A sealed run: what holds its kernels, which seeds it draws, and what the right answers print."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..merge import Merged, sealed_book
from .kernel import SealedKernel
from .limits import Limits, limits_here
from .oracle import Oracle, OracleError, ask
from .seal import Seal
from .seeds import fresh_key, seeds
from .view import package_folder

__all__ = ["KEY", "SOLUTIONS", "SealedRun", "oracle_for", "solutions_folder"]

KEY, SOLUTIONS = "RINGKV_SEALED_KEY", "RINGKV_SOLUTIONS"


def solutions_folder() -> Path:
    """Find the course's solutions; raises ``OracleError`` where there are none."""
    from ...build.run import course_root

    if os.environ.get(SOLUTIONS):
        return Path(os.environ[SOLUTIONS])
    try:
        with suppress(FileNotFoundError):
            return course_root(package_folder().parent) / "solutions"
        return course_root() / "solutions"  # the package is installed: the course may be here
    except FileNotFoundError:
        raise OracleError(
            "a sealed run needs the course's solutions: run it in a checkout of the course, "
            f"or name the folder in {SOLUTIONS}"
        ) from None


def oracle_for(lesson: str, key: str, whose: str = "") -> Oracle:
    """Run a lesson's solution with the seed that a key gives; raises ``OracleError``."""
    return ask(lesson, solutions_folder() / f"{lesson}.ipynb", seeds(key, lesson, whose))


@dataclass
class SealedRun:
    """What the notebooks of one run share.

    ``known`` holds oracles by lesson; one that is missing is asked for with this run's ``key``.
    """

    seal: Seal
    limits: Limits = field(default_factory=limits_here)
    key: str = field(default_factory=fresh_key)
    known: dict[str, Oracle] = field(default_factory=dict)
    masked: tuple[Path, ...] = ()

    def oracle(self, lesson: str) -> Oracle:
        """Give what is right in a lesson; raises ``OracleError``."""
        if lesson not in self.known:
            self.known[lesson] = oracle_for(lesson, self.key)
        return self.known[lesson]

    def book(self, lesson: str, merged: Merged) -> Merged:
        """Put this run's seed and references into a merged notebook."""
        oracle = self.oracle(lesson)
        return sealed_book(merged, oracle.references, oracle.seed)

    def kernel(self, lesson: str, *masked: Path) -> SealedKernel:
        """Start a kernel that cannot see the course, nor any of ``masked``."""
        hidden = (*self.masked, *masked, *_course_folders())
        return SealedKernel(lesson, self.seal, self.limits, hidden)


def _course_folders() -> tuple[Path, ...]:
    """Give where the course and its solutions lie, even inside of a Python environment."""
    with suppress(OracleError):
        solutions = solutions_folder()
        course = solutions.parent
        return (solutions, course) if (course / "course" / "lessons").is_dir() else (solutions,)
    return ()
