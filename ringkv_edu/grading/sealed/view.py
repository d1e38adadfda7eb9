"""The part of the package that one lesson's answers may read: its given code, and nothing else.

What is given in a later lesson is often the answer to an earlier one, so each lesson has its own
view: the modules that its released cells import, and what those import on their first lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .. import HIDDEN
from ..release import ReleasedLesson, lessons, source_of

__all__ = ["modules", "package_folder", "write_view"]

PACKAGE = "ringkv_edu"
ROLES = ("given", "answer")


def package_folder() -> Path:
    """Give the folder of the installed package."""
    return Path(__file__).resolve().parents[2]


@cache
def modules(lesson: str) -> tuple[str, ...]:
    """Name the modules that answers to a lesson may import, ``ringkv_edu`` itself among them."""
    found: dict[str, None] = {PACKAGE: None}
    waiting = [*_wanted(lessons()[lesson])]
    while waiting:
        name = waiting.pop()
        if name not in found and not _hidden(name):
            found[name] = None
            waiting += _imported(_file(name).read_text(encoding="utf-8"), name)
    return tuple(sorted(found))


def write_view(lesson: str, folder: Path) -> None:
    """Write those modules below ``folder``, for a kernel to import them from there."""
    for name in modules(lesson):
        source = _file(name)
        target = folder / source.relative_to(package_folder().parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(0o644)
        for parent in (p for p in target.parents if p.is_relative_to(folder)):
            parent.chmod(0o755)  # the kernel is another user's, and a grader's umask may be strict


def _wanted(lesson: ReleasedLesson) -> Iterator[str]:
    for role in ROLES:
        for cell in lesson.cells(role):
            yield from _imported(_python(source_of(cell)), "")


def _python(source: str) -> str:
    """Leave out a cell's magics, which are no Python."""
    return "\n".join(
        line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))
    )


def _imported(source: str, module: str) -> Iterator[str]:
    """Give our modules that a source imports at its top, not what a function imports later."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
            base = _absolute(node, module)
            named = [base, *(f"{base}.{name.name}" for name in node.names)]
            yield from (name for name in named if _is_ours(name))
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if _is_ours(name.name))


def _absolute(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    if _file(module).name != "__init__.py":
        parts.pop()
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE and _file(name).is_file()


def _file(name: str) -> Path:
    path = package_folder().parent.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _hidden(name: str) -> bool:
    return any(name == hidden or name.startswith(f"{hidden}.") for hidden in HIDDEN)
