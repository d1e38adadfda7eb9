"""A lesson's notebook as nbgrader's authors write one: solutions and hidden tests in its cells.

nbgrader takes the marked regions out for learners, and puts hidden tests back to grade ("Creating
and grading assignments" in its guide). So what its `generate_assignment` gives out is the released
notebook, and what it grades is this one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from importlib import resources
from typing import Any

from ...grading.release import ReleasedLesson, lessons, role_of, source_of
from ...grading.sealed.marks import earning
from ...grading.sealed.oracle import Oracle
from ...problem import Problem

__all__ = ["source_book"]

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_TESTS, END_TESTS = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
QUOTES = "'''"


def source_book(lesson: str, solution: Mapping[str, Any], oracle: Oracle) -> dict[str, Any]:
    """Put a lesson's solutions and an oracle's references into its released notebook."""
    released = lessons()[lesson]
    book: dict[str, Any] = copy.deepcopy(released.book)
    answers = {cell.get("id"): source_of(cell) for cell in solution["cells"]}
    for cell in book["cells"]:
        role = role_of(cell)
        if role == "answer":
            cell["source"] = _answer(source_of(cell), answers[cell["id"]])
        elif role == "graded":
            cell["source"] = _graded(released, cell, oracle)
    return book


def _answer(stub: str, answer: str) -> str:
    """Write the stub, and the solution below it, which defines the same names anew."""
    return f"{stub.rstrip()}\n{BEGIN_SOLUTION}\n{answer.rstrip()}\n{END_SOLUTION}"


def _graded(lesson: ReleasedLesson, cell: Mapping[str, Any], oracle: Oracle) -> str:
    """Write what learners see, with hidden tests around it.

    They make a text of it, which is run once, with another seed, and earns what it would earn in
    a sealed run. A value at a cell's end is what nbgrader takes for points; one line on stderr,
    such as a warning, would cost them all, so it is held back.
    """
    source, name = source_of(dict(cell)), str(cell["id"])
    if QUOTES in source or source.endswith("\\"):
        raise Problem(f"{name} cannot be exported: its text holds {QUOTES} or ends in a backslash")
    want = "".join(f"        {line!r},\n" for line in oracle.references[name].splitlines())
    return "\n".join([
        BEGIN_TESTS, f"_cell = r{QUOTES}", END_TESTS,
        source,
        BEGIN_TESTS, QUOTES, "", "",
        _counting(),
        "_points(",
        "    _cell,",
        f"    seed={oracle.seed},",
        f"    worth={cell['metadata']['nbgrader']['points']},",
        f"    want=[\n{want}    ],",
        f"    telling={earning(lesson, name, oracle)},",
        ")",
        END_TESTS,
    ])  # fmt: skip


def _counting() -> str:
    text = resources.files(__package__).joinpath("nbgrader_points.py").read_text(encoding="utf-8")
    return text[text.index("def _points") :] + "\n"
