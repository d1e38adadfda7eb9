"""Executes a solution, and asks its graded cells what a last-digit difference would change."""

from __future__ import annotations

import copy
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ..graded import PROBE
from .source import BuildError, Lesson

__all__ = ["execute"]

NUDGES = ("1e-6", "-1e-6")
TIMEOUT = 60


def execute(lesson: Lesson, book: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """Run a solution notebook in a fresh kernel and store its outputs.

    Gives the executed notebook, and the ids of the graded cells that print something else when
    they run again with the numbers they print a millionth larger or smaller.
    Raises ``BuildError`` naming a cell that raises.
    """
    graded = [cell for cell in lesson.cells if cell.role == "graded"]
    run = copy.deepcopy(book)
    for nudge in NUDGES:
        run.cells.append(_code(f"%env {PROBE}={nudge}", f"probe{nudge[:1]}"))
        run.cells += [_code(cell.source, cell.id + nudge[:1]) for cell in graded]
    _run(lesson, run)
    printed = {cell.id: _printed(cell) for cell in run.cells}
    unstable = [
        cell.id
        for cell in graded
        if any(printed[cell.id] != printed[cell.id + nudge[:1]] for nudge in NUDGES)
    ]
    run.cells = run.cells[: len(book.cells)]
    for cell in run.cells:
        if cell.metadata.get("ringkv", {}).get("role") == "volatile":
            cell.outputs, cell.execution_count = [], None
        _join_streams(cell)
    run.metadata = book.metadata
    return run, unstable


def _code(source: str, cell_id: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, id=cell_id)


def _run(lesson: Lesson, run: NotebookNode) -> None:
    with TemporaryDirectory() as empty:
        client = NotebookClient(
            run,
            timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            extra_arguments=["--IPKernelApp.log_level=40"],  # no warnings about the transport
            resources={"metadata": {"path": str(Path(empty))}},
        )
        try:
            client.execute()
        except (CellTimeoutError, DeadKernelError):
            bad = next((c.id for c in run.cells if c.get("execution_count", 0) is None), "unknown")
            raise BuildError(lesson.name, bad, f"does not end within {TIMEOUT} s") from None
        except CellExecutionError as error:
            bad = next((c.id for c in run.cells if _raised(c)), "unknown")
            raise BuildError(lesson.name, bad, f"raises {error.ename}: {error.evalue}") from None


def _raised(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.get("outputs", []))


def _printed(cell: NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.get("outputs", []))


def _join_streams(cell: NotebookNode) -> None:
    """Store one output per stream: how a kernel cuts its prints depends on timing."""
    joined: list[NotebookNode] = []
    for output in cell.get("outputs", []):
        last = joined[-1] if joined else None
        if last and last.output_type == output.output_type == "stream" and last.name == output.name:
            last.text += output.text
        else:
            joined.append(output)
    if "outputs" in cell:
        cell.outputs = joined
