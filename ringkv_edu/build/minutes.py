"""The one rule behind every estimate of minutes, so that nobody has to guess.

An **exercise** takes a minute for each hundred words of its task, two for each step of difficulty,
and half a minute for each line that the solution has and the stub has not. A **lesson** takes what
its exercises take, a minute for each two hundred words beside them, and a minute for each picture,
scene or output to look at, rounded to five minutes. Both are estimates from the text alone: nobody
was timed.
"""

from __future__ import annotations

import re

from .source import Cell, Lesson, solved, stub

__all__ = ["exercise_minutes", "lesson_minutes"]

DIFFICULTY = re.compile(r"\*Difficulty ([1-5]) of 5")
MARKS = re.compile(r"[|*`#]|!\[.*?\]\(.*?\)")
LOOKED_AT = ("", "scene", "volatile")


def exercise_minutes(why: Cell, answer: Cell) -> int:
    """Give the minutes of one exercise, from its task and its answer cell."""
    found = DIFFICULTY.search(why.source)
    steps = int(found[1]) if found else 0
    given = set(_lines(stub(answer.source)))
    written = sum(line not in given for line in _lines(solved(answer.source)))
    return round(_words(why) / 100 + 2 * steps + written / 2)


def lesson_minutes(lesson: Lesson) -> int:
    """Give the minutes of a whole lesson."""
    by_id = {cell.id: cell for cell in lesson.cells}
    answers = [cell for cell in lesson.cells if cell.role == "answer"]
    tasks = {f"{answer.id}-why" for answer in answers}
    exercises = sum(exercise_minutes(by_id[f"{one.id}-why"], one) for one in answers)
    beside = [c for c in lesson.cells if c.kind == "markdown" and not c.role and c.id not in tasks]
    reading = sum(map(_words, beside)) / 200
    pictures = sum(c.source.count("](figure:") for c in lesson.cells if c.kind == "markdown")
    shown = pictures + sum(c.kind == "code" and c.role in LOOKED_AT for c in lesson.cells)
    return 5 * round((exercises + reading + shown) / 5)


def _words(cell: Cell) -> int:
    return len(MARKS.sub(" ", cell.source).split())


def _lines(source: str) -> list[str]:
    return [line for line in source.splitlines() if line.strip() and line.lstrip()[0] != "#"]
