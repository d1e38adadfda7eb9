"""Every system of the articles has a module and tests, and the table says which."""

from __future__ import annotations

import re
from pathlib import Path

LINE = re.compile(r"^\| S(\d+) \| [^|]+ \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$", re.MULTILINE)


def lines(root: Path) -> list[tuple[str, ...]]:
    return LINE.findall((root / "course" / "systems.md").read_text(encoding="utf-8"))


def test_all_forty_five_are_there_in_order(root: Path) -> None:
    assert [int(number) for number, *_ in lines(root)] == list(range(1, 46))


def test_what_the_table_names_exists(root: Path) -> None:
    lessons = {path.name[:2] for path in (root / "course" / "lessons").glob("*.py")}
    for _, modules, taught, tests in lines(root):
        for name in re.findall(r"`([^`]+)`", modules):
            assert (root / "ringkv_edu" / name).exists(), name
        for name in re.findall(r"`([^`]+)`", tests):
            assert (root / "tests" / name).is_file(), name
        assert set(re.findall(r"\d\d", taught)) <= lessons
