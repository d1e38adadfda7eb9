"""Puts a learner's answers into the released notebook. Everything else comes from the release."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .release import (
    SEALED_ROLES,
    ReleasedLesson,
    lesson_of_cell,
    role_of,
    source_of,
    with_seed,
)
from .submission import Submission, SubmittedCell

__all__ = ["Merged", "answer_cells", "merge", "refuse", "sealed_book"]

LONGEST_CELL, MOST_READ = 50_000, 500_000  # characters
MISSING = "its answer cell is missing: `ringkv update` puts it back"
NOT_CODE = "its answer cell is no code cell any more"
UNTOUCHED = "not solved yet"


@dataclass(frozen=True)
class Merged:
    """A notebook to run. ``states`` says of each unanswered exercise why there is no answer.

    ``elsewhere`` are the names that the learner defined outside the answer cells: a graded run
    does not see them. ``broken`` are the exercises whose answer breaks a rule.
    """

    book: dict[str, Any]
    states: dict[str, str]
    elsewhere: frozenset[str]
    broken: frozenset[str] = frozenset()


def merge(lesson: ReleasedLesson, submission: Submission) -> Merged:
    """Take only the source of the answer cells, by grade_id, then by cell id, never by place."""
    book = copy.deepcopy(lesson.book)
    answers = answer_cells(lesson, submission)
    states: dict[str, str] = {}
    for cell in book["cells"]:
        name = cell["id"]
        if name not in lesson.answers():
            continue
        answer = answers.get(name)
        if answer is None:
            states[name] = MISSING
        elif answer.kind != "code":
            states[name] = NOT_CODE
        else:
            if answer.source.strip() == source_of(cell).strip():
                states[name] = UNTOUCHED
            cell["source"] = answer.source
    if submission.kind == "solution":
        _keep_outputs(book, submission)
    return Merged(book, states, frozenset(_names_elsewhere(submission, answers)))


def refuse(lesson: ReleasedLesson, merged: Merged, rule: Callable[[str, str], str]) -> Merged:
    """Put the stub in the place of each answer for which ``rule(exercise, source)`` names a reason.

    Such an answer is not run, and earns nothing.
    """
    states, refused, stubs = dict(merged.states), set(), lesson.answers()
    for cell in merged.book["cells"]:
        name = cell["id"]
        if name in stubs and name not in states and (why := rule(name, source_of(cell))):
            states[name], cell["source"] = why, stubs[name]
            refused.add(name)
    return Merged(merged.book, states, merged.elsewhere, frozenset(refused))


def sealed_book(merged: Merged, references: Mapping[str, str], seed: int) -> Merged:
    """Leave what is given, answered and graded; put a seed and references into graded cells."""
    kept = []
    for cell in merged.book["cells"]:
        role = role_of(cell)
        if cell["cell_type"] != "code" or role not in SEALED_ROLES:
            continue
        if role == "graded":
            cell["source"] = with_seed(source_of(cell), seed)
            text = references[cell["id"]]
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
            cell["execution_count"] = 1
        else:  # run, not compared
            cell["outputs"], cell["execution_count"] = [], None
        kept.append(cell)
    return replace(merged, book={**merged.book, "cells": kept})


def answer_cells(lesson: ReleasedLesson, submission: Submission) -> dict[str, SubmittedCell]:
    """Find each answer cell in a submission.

    A copied cell keeps its grade_id and gets a new id, so of several with one grade_id the one
    that has the right id, too, is the answer; else the last.
    """
    found: dict[str, SubmittedCell] = {}
    for name in lesson.answers():
        rules: tuple[Callable[[SubmittedCell], bool], ...] = (
            lambda cell, name=name: cell.grade_id == name and cell.id == name,  # type: ignore[misc]
            lambda cell, name=name: cell.grade_id == name,  # type: ignore[misc]
            lambda cell, name=name: cell.id == name,  # type: ignore[misc]
        )
        for rule in rules:
            matching = [cell for cell in submission.cells if rule(cell)]
            if matching:
                found[name] = matching[-1]
                break
    return found


def _keep_outputs(book: dict[str, Any], submission: Submission) -> None:
    """In a solution, compare what its demonstrations print with what they printed when built."""
    stored = {cell.id: cell.raw for cell in submission.cells}
    for cell in book["cells"]:
        role = role_of(cell)
        if role in ("given", "scene") and cell["id"] in stored:
            outputs = stored[cell["id"]].get("outputs", [])
            if isinstance(outputs, list) and all(isinstance(output, dict) for output in outputs):
                cell["outputs"] = outputs
                cell["execution_count"] = 1 if outputs else None


def _names_elsewhere(submission: Submission, answers: dict[str, SubmittedCell]) -> set[str]:
    """Give the names defined in cells of the learner's own."""
    taken = {id(cell) for cell in answers.values()}
    names: set[str] = set()
    read = 0
    for cell in submission.cells:
        if cell.kind == "code" and id(cell) not in taken and cell.id not in lesson_of_cell():
            read += len(cell.source)
            names |= _defined(cell.source) if read <= MOST_READ else set()
    return names


def _defined(source: str) -> set[str]:
    if len(source) > LONGEST_CELL:
        return set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    stored = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    return defined | stored | {(a.asname or a.name).split(".")[0] for n in imports for a in n.names}
