"""Executes a solution, and asks its graded cells what would change what they print."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ..graded import PROBE
from ..grading.release import SEALED_ROLES, role_of
from .source import BuildError, Lesson, stub

__all__ = ["execute"]

NUDGES = ("1e-6", "-1e-6")
TIMEOUT = 60
WIDGET = "application/vnd.jupyter.widget-view+json"
NOTHING_LEARNT = "prints the reference for the untouched stub, too: nobody has to write anything"
UNSTABLE = "prints what a last-digit difference or a second run would change: draw others"


def execute(lesson: Lesson, book: NotebookNode) -> tuple[NotebookNode, dict[str, str]]:
    """Run a solution notebook in a fresh kernel and store its outputs.

    Gives the executed notebook, and for each graded cell that cannot be trusted the reason: it
    prints something else in a second kernel, or with the numbers it prints a millionth larger or
    smaller; or it prints the same for the stub; or it leans on a scene, which a sealed run leaves
    out. Raises ``BuildError`` naming a cell that raises.
    """
    first, second, bare = (copy.deepcopy(book) for _ in range(3))
    for run in (second, bare):
        run.cells = [cell for cell in run.cells if role_of(cell) in SEALED_ROLES]
    graded = [cell for cell in lesson.cells if cell.role == "graded"]
    _run(lesson, first, "1")
    expected = _printed(first)
    second.cells.insert(0, _code(f"%env {PROBE}={NUDGES[0]}", "probe"))
    second.cells.append(_code(f"%env {PROBE}={NUDGES[1]}", "other-probe"))
    second.cells += [_code(cell.source, f"{cell.id}-again") for cell in graded]
    _run(lesson, second, "2", where=" where the scenes are left out, as in a sealed run")
    stubs = {cell.id: stub(cell.source) for cell in lesson.cells if cell.role == "answer"}
    for cell in bare.cells:
        cell.source = stubs.get(cell.id, cell.source)
    _run(lesson, bare, "3", allow_errors=True)
    again, untouched = _printed(second), _printed(bare)
    doubts: dict[str, str] = {}
    for cell in graded:
        if untouched[cell.id] == expected[cell.id]:
            doubts[cell.id] = NOTHING_LEARNT
        if {again[cell.id], again[f"{cell.id}-again"]} != {expected[cell.id]}:
            doubts[cell.id] = UNSTABLE
    _tidy(first)
    first.metadata = book.metadata
    return first, doubts


def _code(source: str, cell_id: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, id=cell_id)


def _run(
    lesson: Lesson, run: NotebookNode, hash_seed: str, allow_errors: bool = False, where: str = ""
) -> None:
    """Run a notebook in an empty folder; another hash seed shows what depends on set order."""
    with TemporaryDirectory() as empty:
        client = NotebookClient(
            run,
            timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            allow_errors=allow_errors,
            extra_arguments=["--IPKernelApp.log_level=40"],  # no warnings about the transport
            resources={"metadata": {"path": str(Path(empty))}},
        )
        try:
            no_model = {
                "RINGKV_MODELS": empty
            }  # what is built takes as long with the model as without
            client.execute(env={**os.environ, "PYTHONHASHSEED": hash_seed, **no_model})
        except (CellTimeoutError, DeadKernelError):
            bad = next((c.id for c in run.cells if c.get("execution_count", 0) is None), "unknown")
            raise BuildError(lesson.name, bad, f"does not end within {TIMEOUT} s") from None
        except CellExecutionError as error:
            bad = next((c.id for c in run.cells if _raised(c)), "unknown")
            raise BuildError(
                lesson.name, bad, f"raises {error.ename}: {error.evalue}{where}"
            ) from None


def _raised(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.get("outputs", []))


def _printed(book: NotebookNode) -> dict[str, str]:
    return {
        cell.id: "".join(output.get("text", "") for output in cell.get("outputs", []))
        for cell in book.cells
    }


def _tidy(book: NotebookNode) -> None:
    """Store no volatile output, and one output per stream: how prints are cut depends on timing.

    A live figure is stored as its still picture and its text: the widget is of this kernel only.
    """
    for cell in book.cells:
        if role_of(cell) == "volatile":
            cell.outputs, cell.execution_count = [], None
        joined: list[NotebookNode] = []
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
            last = joined[-1] if joined else output
            same = last is not output and last.output_type == output.output_type == "stream"
            if same and last.name == output.name:
                last.text += output.text
            else:
                joined.append(output)
        if "outputs" in cell:
            cell.outputs = joined
