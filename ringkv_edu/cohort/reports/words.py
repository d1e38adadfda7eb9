"""What several reports say in the same words."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator

from ...grading.merge import UNTOUCHED
from ..gradebook import Book, Entry, Exercise, Result
from ..people import Learner

__all__ = [
    "UNGRADED", "by_lesson", "called", "notes", "outcome", "points", "seen", "share", "untouched",
]  # fmt: skip

UNGRADED = "could not be graded"
DIFFERENCE = re.compile(r"(line \d+): reference (.+)", re.DOTALL)
BETWEEN = ", yours "


def points(number: float) -> str:
    """Write points with two decimals at most."""
    return f"{round(number, 2):.2f}".rstrip("0").rstrip(".")


def share(part: float, whole: float) -> str:
    """Write a part in per cent, rounded down, so that only all of it is 100 %."""
    return f"{int(100 * part / whole) if whole else 0}\u2009%"


def by_lesson(book: Book, learner: Learner) -> dict[str, Result]:
    """Give a learner's results by lesson, in the order of the lessons."""
    found = {result.lesson: result for result in book.learners.get(learner, ())}
    return {name: found[name] for name in book.lessons if name in found}


def called(learner: Learner) -> str:
    """Give a name that can be seen: the learner's, or the id, or words that say there is none."""
    for text in (learner.name, learner.id):
        if any(one.isprintable() and not one.isspace() for one in text):
            return text
    return "(no name)"


def notes(book: Book, learner: Learner) -> list[str]:
    """Say what an instructor should know of a learner's files."""
    return list(_notes(book, learner))


def _notes(book: Book, learner: Learner) -> Iterator[str]:
    results = by_lesson(book, learner)
    strays = book.strays.get(learner, ())
    if not results and not strays:
        yield "handed in nothing"
    for name, result in results.items():
        if result.problem:
            yield f"{name[:2]} {UNGRADED}: {result.problem}"
        if _counting(result.files).late:
            yield f"{name[:2]} late"
    if strays:
        yield f"{len(strays)} {'file' if len(strays) == 1 else 'files'} of no lesson"
    if learner.id in book.unknown:
        yield "not on the roster"


def _counting(files: tuple[Entry, ...]) -> Entry:
    return next((one for one in files if one.counts), Entry("", "", False, False))


def outcome(one: Exercise) -> str:
    """Say in a line what cost points: the cause, and the mistake that prints the same."""
    if one.earned >= one.worth:
        return ""
    return f"{one.cause}; as if {one.sentence}" if one.sentence else one.cause


def seen(cause: str) -> tuple[str, str, str] | None:
    """Take a cause apart that compares two lines: where, what was expected, what was seen."""
    found = DIFFERENCE.fullmatch(cause)
    parts = found[2].split(BETWEEN) if found else []
    for place in range(1, len(parts)):  # the printed texts may hold those words, too
        texts = _unquoted(BETWEEN.join(parts[:place])), _unquoted(BETWEEN.join(parts[place:]))
        if found and texts[0] is not None and texts[1] is not None:
            return found[1], texts[0], texts[1]
    return None


def _unquoted(text: str) -> str | None:
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def untouched(one: Exercise) -> bool:
    """Say whether an exercise was never begun."""
    return one.cause == UNTOUCHED
