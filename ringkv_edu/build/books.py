"""Makes notebooks from a lesson: the learner's, and the solution that is then executed."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..figures.still import words_in
from ..grading.release import digest
from .source import BuildError, Cell, Lesson, solved, stub

__all__ = ["FIGURE", "learner_book", "solution_book", "text_of"]

FIGURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(figure:(?P<file>[\w.-]+)\)")
IGNORED = ("check", "volatile")  # run by nbval, never compared
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def solution_book(lesson: Lesson, figures: Path) -> NotebookNode:
    """Make the solution, not yet executed."""
    cells = [_node(lesson, cell, solved(cell.source), figures) for cell in lesson.cells]
    return _book(lesson, "solution", cells)


def learner_book(lesson: Lesson, executed: NotebookNode, figures: Path) -> NotebookNode:
    """Make the learner's notebook: stubs, and the reference outputs of an executed solution."""
    reference = {cell.id: cell for cell in executed.cells}
    cells = []
    for cell in lesson.cells:
        if cell.role == "solution":
            continue
        node = _node(
            lesson, cell, stub(cell.source) if cell.role == "answer" else cell.source, figures
        )
        if cell.role == "graded":
            node.outputs = reference[cell.id].outputs
            node.execution_count = reference[cell.id].execution_count
        cells.append(node)
    book = _book(lesson, "learner", cells)
    book.metadata.ringkv.release = digest(text_of(book))
    return book


def text_of(book: NotebookNode) -> str:
    """Write a notebook the one way in which the builder writes it."""
    return str(nbformat.writes(book, version=4, indent=1)).rstrip("\n") + "\n"


def _book(lesson: Lesson, kind: str, cells: list[NotebookNode]) -> NotebookNode:
    about = {"lesson": lesson.name, "kind": kind}
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "ringkv": about}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _node(lesson: Lesson, cell: Cell, source: str, figures: Path) -> NotebookNode:
    if cell.kind == "markdown":
        about = {"ringkv": {"role": cell.role or "prose"}}
        node = nbformat.v4.new_markdown_cell(source, id=cell.id, metadata=about)
        _attach_figures(lesson, cell, node, figures)
        return node
    return nbformat.v4.new_code_cell(source, id=cell.id, metadata=_metadata(cell))


def _metadata(cell: Cell) -> dict[str, Any]:
    """Give nbgrader's metadata, schema 3, and ours: the role."""
    graded, answer = cell.role == "graded", cell.role == "answer"
    about: dict[str, Any] = {"ringkv": {"role": cell.role or "given"}}
    if answer:  # so that a later release can tell an untouched answer from a written one
        about["ringkv"]["stub"] = digest(stub(cell.source))
    if answer or graded:
        about["nbgrader"] = {
            "grade": graded,
            "grade_id": cell.id,
            "locked": graded,
            "schema_version": 3,
            "solution": answer,
            "task": False,
        } | ({"points": cell.points} if graded else {})
        about["deletable"] = False
    if graded:
        about["editable"] = False
    if cell.role in IGNORED:
        about["tags"] = ["nbval-ignore-output"]
    return about


def _attach_figures(lesson: Lesson, cell: Cell, node: NotebookNode, figures: Path) -> None:
    def attached(match: re.Match[str]) -> str:
        path = figures / match["file"]
        if not path.exists():
            raise BuildError(lesson.name, cell.id, f"there is no figure {match['file']}")
        alt = " ".join((match["alt"].strip() or words_in(path)).split())
        if not alt:
            why = f"the figure {path.name} carries no alt text, and none is given here"
            raise BuildError(lesson.name, cell.id, why)
        picture = base64.b64encode(path.read_bytes()).decode("ascii")
        node.setdefault("attachments", {})[path.name] = {"image/png": picture}
        return f"![{alt}](attachment:{path.name})"

    node.source = FIGURE.sub(attached, node.source)
