"""Refuses to release a lesson that could not be graded, read or trusted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from .books import text_of
from .minutes import exercise_minutes, lesson_minutes
from .source import BuildError, Cell, Lesson, solved, stub

__all__ = ["check_books", "check_lesson"]

MOST_CELLS, MOST_WORDS, MOST_BYTES, MOST_PICTURE = 48, 2500, 200_000, 40_000
SKIP = re.compile(r"^\s*#+\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.MULTILINE)
LEFT_OVER = re.compile(r"#+\s*(BEGIN|END)\s+SOL|#+\s*STUB", re.IGNORECASE)
FORMATS = re.compile(r"%[-+0-9]*\.\d|\{[^{}]*:[^{}]*\.\d")
VERDICT_WORDS = "ok|okay|pass|passed|right|true|false|correct|success|all|tests?|good|yes|no|done"
VERDICT = re.compile(rf"\b({VERDICT_WORDS})\b|[✓✔✅]", re.IGNORECASE)
ONLY_VERDICTS = re.compile(rf"(\W|\b({VERDICT_WORDS}|\d+|of|case)\b)+", re.IGNORECASE)
OUTPUT_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}"), "prints a memory address"),
    (
        re.compile(r"(^|[\s'\"])(~|/[\w.-]+|[A-Za-z]:\\)[/\\]?[\w.-]+[/\\]|site-packages"),
        "prints a path",
    ),
    (
        re.compile(r"\d\.\d{7,}|\de[+-]?\d+\b"),
        "prints a number in full: print it through fixed()",
    ),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d\b|\b20\d\d-\d\d-\d\d\b"), "prints a time"),
)
HEADER = re.compile(
    r"\*Difficulty [1-5] of 5 · (?P<minutes>\d+) minutes? · (?P<points>no|\d+) points?\*"
)
LENGTH = re.compile(r"\*(\d+) minutes\.")


def check_lesson(lesson: Lesson) -> None:
    """Check what the source says, before anything runs."""
    ids = [cell.id for cell in lesson.cells]
    for name in ids:
        if ids.count(name) > 1:
            raise BuildError(lesson.name, name, "two cells have this id")
    by_id = {cell.id: cell for cell in lesson.cells}
    for cell in lesson.cells:
        if cell.role == "answer":
            _check_exercise(lesson, cell, by_id)
        if cell.role == "graded":
            _check_graded_source(lesson, cell)
    _check_length(lesson)
    unknown = set(lesson.hints) - set(ids)
    if unknown:
        raise BuildError(lesson.name, unknown.pop(), "has hints, but there is no such answer cell")


def check_books(
    lesson: Lesson, learner: NotebookNode, solution: NotebookNode, doubts: dict[str, str]
) -> None:
    """Check what was built and what it printed; ``doubts`` are what executing it showed."""
    roles = {cell.id: cell.role for cell in lesson.cells}
    for node in learner.cells:
        if roles[node.id] == "graded":
            why = next(_bad_output(node, doubts), None)
            if why:
                raise BuildError(lesson.name, node.id, why)
        for picture in node.get("attachments", {}).values():
            if len(picture["image/png"]) * 3 / 4 > MOST_PICTURE:
                raise BuildError(lesson.name, node.id, f"a picture is over {MOST_PICTURE} bytes")
    words = sum(len(c.source.split()) for c in learner.cells if c.cell_type == "markdown")
    sizes = {
        f"{len(learner.cells)} cells": len(learner.cells) <= MOST_CELLS,
        f"{words} words of prose": words <= MOST_WORDS,
        f"{len(text_of(learner))} bytes": len(text_of(learner)) <= MOST_BYTES,
        f"{len(text_of(solution))} bytes in the solution": len(text_of(solution)) <= MOST_BYTES,
    }
    for what, fits in sizes.items():
        if not fits:
            raise BuildError(lesson.name, "all", f"{what} are too many for one lesson")


def _check_exercise(lesson: Lesson, answer: Cell, by_id: dict[str, Cell]) -> None:
    def need(test: object, why: str) -> None:
        if not test:
            raise BuildError(lesson.name, answer.id, why)

    name = answer.id
    need(not LEFT_OVER.search(stub(answer.source)), "a solution marker is not closed, or misspelt")
    need(stub(answer.source).strip() != solved(answer.source).strip(), "the stub is the solution")
    check, graded, why = (by_id.get(f"{name}-{part}") for part in ("check", "graded", "why"))
    need("### BEGIN SOLUTION" in answer.source, "an answer cell marks its solution")
    called = check and re.search(rf'^check\("{name}"\)', check.source, re.MULTILINE)
    need(called, f"needs a check cell {name}-check that calls check")
    need(len(lesson.hints.get(name, [])) == 3, "needs three hints: nudge, plan, nearly code")
    need(f"{name}-reason" in by_id, "needs a solution cell with the reason")
    header = HEADER.search(why.source) if why else None
    need(header, f"needs {name}-why with `*Difficulty n of 5 · n minutes · n points*`")
    _check_minutes(lesson, answer, why, int(header["minutes"]) if header else 0)
    promised = header["points"] if header else ""
    worth = str(graded.points) if graded else "no"
    need(promised == worth, f"promises {promised} points, its graded cell is worth {worth}")


def _check_minutes(lesson: Lesson, answer: Cell, why: Cell | None, promised: int) -> None:
    takes = exercise_minutes(why, answer) if why else 0
    if promised != takes:
        said = f"promises {promised} minutes; by the rule of build/minutes.py it takes {takes}"
        raise BuildError(lesson.name, answer.id, said)


def _check_length(lesson: Lesson) -> None:
    first = lesson.cells[0] if lesson.cells else None
    found = LENGTH.search(first.source) if first else None
    if first and found and int(found[1]) != (takes := lesson_minutes(lesson)):
        said = f"promises {found[1]} minutes; by the rule of build/minutes.py it takes {takes}"
        raise BuildError(lesson.name, first.id, said)


def _check_graded_source(lesson: Lesson, cell: Cell) -> None:
    def refuse(why: str) -> None:
        raise BuildError(lesson.name, cell.id, why)

    if not cell.points:
        refuse("a graded cell is worth points")
    if cell.id.removesuffix("-graded") not in {c.id for c in lesson.cells if c.role == "answer"}:
        refuse("a graded cell is called after its answer cell: NAME-graded")
    tree = ast.parse(cell.source)
    seeds = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "SEED"]
    stored = [n for n in seeds if isinstance(n.ctx, ast.Store)]
    if len(stored) != 1 or not re.search(r"^SEED = 0$", cell.source, re.MULTILINE):
        refuse("a graded cell has the line `SEED = 0` once; grading puts another seed there")
    if SKIP.search(cell.source):
        refuse("a graded cell is marked as skipped")
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
    if not any(ast.unparse(n.func) == "draw" and ast.unparse(n.args[0]) == "SEED" for n in calls):
        refuse("a graded cell draws its inputs from SEED: draw(SEED, ...)")
    if FORMATS.search(cell.source):
        refuse("a graded cell writes numbers through fixed(), not with a format")
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            refuse("a graded cell prints data and asserts nothing")
        if isinstance(node, ast.FormattedValue) and _rounds(node):
            refuse("a graded cell writes numbers through fixed(), not with a format")


def _rounds(node: ast.FormattedValue) -> bool:
    parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
    spec = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    return spec.endswith(tuple("efgEFG%"))


def _bad_output(node: NotebookNode, doubts: dict[str, str]) -> Iterator[str]:
    if node.execution_count is None or not node.outputs:
        yield "has no stored output: nbval would not compare it"
    kinds = {(output.output_type, output.get("name", "")) for output in node.outputs}
    if kinds - {("stream", "stdout")}:
        yield f"writes something other than printed text: {sorted(kinds)}"
    text = "".join(output.get("text", "") for output in node.outputs)
    if not text.strip():
        yield "prints nothing"
    if VERDICT.search(text) and ONLY_VERDICTS.fullmatch(text):
        yield f"prints a verdict ({text.strip()!r}): print what was computed"
    yield from (why for pattern, why in OUTPUT_RULES if pattern.search(text))
    if node.id in doubts:
        yield doubts[node.id]
