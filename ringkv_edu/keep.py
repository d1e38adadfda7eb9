"""Keeps a learner's own functions and classes from one kernel to the next."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import progress

__all__ = ["WORK_MODULE", "save_work"]

WORK_MODULE = "my_ringkv.py"
HEAD = '"""Your own work, kept by save_work()."""\n\nfrom __future__ import annotations\n'
MARK = "# %% "
KEPT = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Try,
)  # fmt: skip


def save_work(*names: str) -> None:
    """Write the definitions of these names to ``my_ringkv.py``, for later lessons to import.

    Works in a course folder made by ``ringkv start``; elsewhere it says so and writes nothing.
    A name whose exercise has not been solved is left out, and so is one that no cell defines.
    Names that the file holds already, and that are not given, stay.
    """
    folder = progress.course_folder()
    if folder is None:
        print("This is not a course folder made by `ringkv start`: nothing was saved.")
        return
    history, live = _shell()
    unsolved = [name for name in names if not _solved(name)]
    found = {name: _source(name, history, live) for name in names if name not in unsolved}
    unknown = [name for name, source in found.items() if not source]
    path = folder / WORK_MODULE
    kept = _read(path) | {name: source for name, source in found.items() if source}
    if kept:
        path.write_text(_written(kept), encoding="utf-8")
        print(f"Saved in {WORK_MODULE}: {', '.join(kept)}.{_trouble(path)}")
    if unsolved:
        print(f"Not saved, since their checks have not passed: {', '.join(unsolved)}.")
    if unknown:
        print(f"Not saved, since no cell that was run defines them: {', '.join(unknown)}.")


def _solved(name: str) -> bool:
    """Say whether the exercise that asks for a name has been solved; other names are free."""
    from .checks import asking

    ids = asking(name)
    return not ids or any(exercise in progress.load()["solved"] for exercise in ids)


def _shell() -> tuple[list[str], dict[str, Any]]:
    """Give the cells that were run, oldest first, and the notebook's names."""
    with contextlib.suppress(ImportError):
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell:
            return list(shell.user_ns.get("In", [])), shell.user_ns
    return [], {}


def _source(name: str, history: list[str], live: dict[str, Any]) -> str:
    """Give the definitions of the cell where a name got the value that it has now."""
    code = getattr(live.get(name), "__code__", None)
    own = "".join(linecache.getlines(code.co_filename)) if code else ""
    cells = [cell for cell in history if cell.strip() == own.strip()] if own.strip() else []
    cells = cells or [cell for cell in history if name in _defined(cell)]
    return _definitions(cells[-1]) if cells else ""


def _defined(cell: str) -> set[str]:
    return {name for node in _body(cell) for name in _names(node)}


def _names(node: ast.AST) -> set[str]:
    """Give the names that a statement gives values to, not those inside functions and classes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    return {name for inner in ast.iter_child_nodes(node) for name in _names(inner)}


def _definitions(cell: str) -> str:
    """Give a cell's definitions, decorators and all, without its loops and calls."""
    lines, parts = cell.splitlines(), []
    for node in _body(cell):
        decorators: Iterable[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        parts.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n\n\n".join(parts)


def _body(cell: str) -> list[ast.stmt]:
    try:
        body = ast.parse(cell).body
    except (SyntaxError, ValueError):  # a cell with a magic, or one that never ran
        return []
    future = [n for n in body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    return [node for node in body if isinstance(node, KEPT) and node not in future]


def _trouble(path: Path) -> str:
    """Import the file as a later lesson would; say what fails."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(path))
    except BaseException as error:
        what = f"{type(error).__name__}: {error}"
        return f" But importing it raises {what}. Save what it needs, too: save_work(..., NAME)."
    return ""


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    cells: dict[str, str] = {}
    for part in path.read_text(encoding="utf-8").split(f"\n{MARK}")[1:]:
        names, _, source = part.partition("\n")
        cells |= {name: source.strip() for name in names.split(", ")}
    return cells


def _written(kept: dict[str, str]) -> str:
    """Write each cell once, under all the names that it was saved for."""
    sources = list(dict.fromkeys(kept.values()))
    names = {source: [n for n, text in kept.items() if text == source] for source in sources}
    return HEAD + "".join(f"\n{MARK}{', '.join(names[s])}\n{s}\n" for s in sources)
