"""Keeps a learner's own functions and classes from one kernel to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from . import progress

__all__ = ["WORK_MODULE", "save_work"]

WORK_MODULE = "my_ringkv.py"
HEAD = '"""Your own work, kept by save_work()."""\n'
MARK = "# %% "


def save_work(*names: str) -> None:
    """Write the cells that define these names to ``my_ringkv.py``, for later lessons to import.

    Works in a course folder made by ``ringkv start``; elsewhere it says so and writes nothing.
    Names that the file holds already, and that are not given, stay.
    """
    folder = progress.course_folder()
    if folder is None:
        print("This is not a course folder made by `ringkv start`: nothing was saved.")
        return
    history = _history()
    path = folder / WORK_MODULE
    kept = _read(path)
    for name in names:
        source = next((cell for cell in reversed(history) if name in _defined(cell)), None)
        if source is None:
            print(f"Nothing was saved: no cell that was run defines `{name}`. Run it first.")
            return
        kept[name] = source.strip()
    path.write_text(_written(kept), encoding="utf-8")
    print(f"Saved in {WORK_MODULE}: {', '.join(kept)}.")


def _history() -> list[str]:
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return []
    shell = get_ipython()
    return list(shell.user_ns.get("In", [])) if shell else []


def _defined(cell: str) -> set[str]:
    try:
        body = ast.parse(cell).body
    except SyntaxError:  # a cell with a magic, or one that never ran
        return set()
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    parts = path.read_text(encoding="utf-8").split(f"\n{MARK}")[1:]
    cells: dict[str, str] = {}
    for part in parts:
        names, _, source = part.partition("\n")
        cells |= {name: source.strip() for name in names.split(", ")}
    return cells


def _written(kept: dict[str, str]) -> str:
    """Write each cell once, under all the names that it was saved for."""
    sources = list(dict.fromkeys(kept.values()))
    return HEAD + "".join(f"\n{MARK}{', '.join(_names(kept, s))}\n{s}\n" for s in sources)


def _names(kept: dict[str, str], source: str) -> Iterable[str]:
    return [name for name, text in kept.items() if text == source]
