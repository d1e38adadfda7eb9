"""What Canvas's and Moodle's CSV files have in common: reading them, and finding learners."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...problem import Problem
from ..gradebook import Book
from ..people import Learner
from .words import points

__all__ = ["Filled", "Row", "Rule", "matches", "name_key", "number", "read_csv", "scaled"]

DELIMITERS = ",;\t"
BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))
Row = Mapping[str, str]
Keys = Iterable[str]
Rule = tuple[Callable[[Row], Keys], Callable[[Learner], Keys]]


@dataclass(frozen=True)
class Filled:
    """A file to import, what to say about it, and the learners for whom it has no line."""

    text: str
    lines: tuple[str, ...] = ()
    unmatched: tuple[Learner, ...] = field(default=())


def read_csv(path: Path) -> list[list[str]]:
    """Read a CSV file, with or without a BOM, whichever of comma, semicolon or tab separates."""
    raw = path.read_bytes()
    encoding = next(name for mark, name in BOMS if raw.startswith(mark))
    try:
        text = raw.decode(encoding)
        first = {one: next(csv.reader(io.StringIO(text), delimiter=one), []) for one in DELIMITERS}
        best = max(DELIMITERS, key=lambda one: len(first[one]))
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=best))
    except UnicodeDecodeError:
        raise Problem(f"{path} is not UTF-8 text; export it again, and save it as UTF-8") from None
    except csv.Error as error:
        raise Problem(f"{path} cannot be read as CSV: {error}") from None
    if not rows or not any(cell.strip() for cell in rows[0]):
        raise Problem(f"{path} is empty")
    return rows


def matches(
    rows: Sequence[Row], learners: Iterable[Learner], rules: Sequence[Rule]
) -> dict[int, Learner]:
    """Say which learner each line is: by the first rule that finds one line and one learner.

    Two lines, or two learners, that a rule cannot tell apart are left to the next rule.
    """
    found: dict[int, Learner] = {}
    waiting = set(learners)
    for of_row, of_learner in rules:
        here, there = _places(rows, found, of_row), defaultdict(set)
        for learner in waiting:
            for key in filter(None, map(_key, of_learner(learner))):
                there[key].add(learner)
        for key, places in here.items():
            if len(places) == len(there.get(key, ())) == 1:
                (place,), (learner,) = places, there[key]
                if place not in found and learner in waiting:
                    found[place] = learner
                    waiting.discard(learner)
    return found


def _places(
    rows: Sequence[Row], found: Mapping[int, Learner], of_row: Callable[[Row], Keys]
) -> dict[str, set[int]]:
    places: dict[str, set[int]] = {}
    for place, row in enumerate(rows):
        if place not in found:
            for key in filter(None, map(_key, of_row(row))):
                places.setdefault(key, set()).add(place)
    return places


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def name_key(name: str) -> str:
    """Write a name one way, whether it stood as "Ann Lee" or as "Lee, Ann"."""
    last, comma, first = name.partition(",")
    turned = f"{first} {last}" if comma else name
    return " ".join(turned.split())


def number(text: str) -> float | None:
    """Read a number with a decimal point or comma; none where there is none."""
    found = re.fullmatch(r"\s*(\d+)(?:[.,](\d+))?\s*", text)
    return float(f"{found[1]}.{found[2] or 0}") if found else None


def scaled(book: Book, learner: Learner, most: float | None) -> str:
    """Give a learner's points for a grade of at most ``most``, or as they are without one."""
    earned = book.earned(learner)
    return points(earned * most / book.worth if most and book.worth else earned)
