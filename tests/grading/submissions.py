"""Makes a learner's notebooks for the tests: solved, wrong, broken and cheating ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LESSON_00, LESSON_01 = "00_start_here", "01_plain_python_ring"
RIGHT = "def last(tokens, window):\n    return tokens[-window:]\n"
WRONG = "def last(tokens, window):\n    return tokens[:window]\n"

Book = dict[str, Any]


def released(lesson: str = LESSON_00) -> Book:
    return json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text(encoding="utf-8"))


def solution(lesson: str = LESSON_01) -> Book:
    """A solved notebook, as a learner would have saved it: not marked as the solution."""
    book = json.loads((ROOT / "solutions" / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    book["metadata"]["ringkv"]["kind"] = "learner"
    return book


def cell(book: Book, name: str) -> dict[str, Any]:
    return next(c for c in book["cells"] if c.get("id") == name)


def answered(source: str, name: str = "ex00-last", lesson: str = LESSON_00) -> Book:
    book = released(lesson)
    cell(book, name)["source"] = source
    return book


def text(book: Book, **options: Any) -> bytes:
    return json.dumps(book, **options).encode("utf-8")


@dataclass
class Run:
    """What one pytest run printed, and the points table in it, by folder."""

    code: int
    output: str
    seconds: float
    left: list[str] = field(default_factory=list)  # in the folder for temporary files
    peaks: list[int] = field(default_factory=list)  # bytes that each of its processes held at most

    def points(self, folder: str) -> tuple[int, str]:
        """Points earned in a folder's notebook, and everything its part of the table says."""
        part = self.part(folder)
        earned = re.search(r"^  lesson +(\d+)/", part, re.MULTILINE)
        assert earned, part
        return int(earned[1]), part

    def part(self, folder: str) -> str:
        return self.parts(folder)[0]

    def parts(self, folder: str) -> list[str]:
        """What the table says of each of a folder's notebooks."""
        table = re.split(r"^=+ points =+$", self.output, flags=re.MULTILINE)[-1]
        blocks = re.split(r"\n(?=\S)", table)
        found = [b for b in blocks if b.lstrip("=\n ").startswith(f"{folder}/")]
        assert found, f"{folder} is not in the table, which ends with\n{table[-2000:]}"
        return found

    def earned(self, folder: str) -> float:
        """Points earned in a folder's notebooks together, whole or not."""
        found = [re.search(r"^  lesson +([\d.]+)/", b, re.MULTILINE) for b in self.parts(folder)]
        return sum(float(one[1]) for one in found if one)


# What pytest sets for itself, and what makes it print whole messages below the points.
NOT_TYPED = ("PYTEST_", "CI", "BUILD_NUMBER")


def run(folder: Path, *arguments: str, timeout: float = 240, **variables: str) -> Run:
    """Run `pytest --nbval` on a folder, as a person would type it there."""
    begun = time.monotonic()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(NOT_TYPED)} | variables
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--color=no", *arguments],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=timeout,
        env=environment | {"COLUMNS": "200"},
    )  # fmt: skip
    return Run(done.returncode, done.stdout + done.stderr, time.monotonic() - begun)


Maker = Callable[[], bytes]


def write_all(folder: Path, makers: dict[str, Maker], name: str = f"{LESSON_00}.ipynb") -> None:
    for learner, make in makers.items():
        (folder / learner).mkdir()
        (folder / learner / name).write_bytes(make())
