"""Keeps a learner's own functions and classes from one kernel to the next."""

from __future__ import annotations

import ast
from pathlib import Path

from . import progress

__all__ = ["WORK_MODULE", "save_work"]

WORK_MODULE = "my_ringkv.py"
HEAD = '"""Your own work, kept by save_work()."""\n'
MARK = "# %% "


def save_work(*names: str) -> None:
    """Write the definitions of these names to ``my_ringkv.py``, for later lessons to import.

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
        kept[name] = _definitions(source)
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
    return {name for node in _body(cell) for name in _names_of(node)}


def _definitions(cell: str) -> str:
    """Give a cell's imports, functions, classes and assignments, without its calls."""
    parts = [ast.get_source_segment(cell, node) or "" for node in _body(cell) if _names_of(node)]
    return "\n\n\n".join(parts)


def _body(cell: str) -> list[ast.stmt]:
    try:
        return ast.parse(cell).body
    except SyntaxError:  # a cell with a magic, or one that never ran
        return []


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


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
    names = {source: [n for n, text in kept.items() if text == source] for source in sources}
    return HEAD + "".join(f"\n{MARK}{', '.join(names[s])}\n{s}\n" for s in sources)
