"""Adds up the teaching plans and fills their tables into ``course/teaching_plans.md``.

The page is written by hand but for the parts between ``<!-- table NAME -->`` and ``<!-- end -->``.
Minutes are those of the lessons' sources; ``python -m ringkv_edu.kit.plans PAGE`` fills in.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from ..build.run import course_root
from ..build.source import Lesson, read_lesson
from .reading import HEADER
from .stuck import STUCK

__all__ = ["PLANS", "Item", "Plan", "Task", "fill", "minutes_of", "table_of", "tasks"]

MARKED = re.compile(r"(<!-- table ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
TITLE = re.compile(r"^##+ (.+)$", re.MULTILINE)
LESSON_MINUTES = re.compile(r"\*(\d+) minutes\b|takes (\d+) minutes")


@dataclass(frozen=True)
class Item:
    """A line of a plan: minutes of its own, exercises by their ids, or whole lessons by number."""

    what: str
    minutes: int = 0
    exercises: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A plan: how many minutes there are, and what they are spent on. What is left stays open."""

    minutes: int
    items: tuple[Item, ...]


PLANS: Mapping[str, Plan] = {
    "ninety minutes": Plan(90, (
        Item("`ringkv doctor` on every machine, lesson 00's first cells", 6),
        Item("[ten minutes unplugged](unplugged.md): cups and cards", 10),
        Item("slides of lesson 01, up to the picture of the ring", 7),
        Item("at the keyboard", 0, ("predict01", "ex02-append", "ex05-edge")),
        Item("live: `show` with a ring and a cache that takes the slot for the position", 5),
        Item("at the keyboard", 0, ("ex07-distance",)),
        Item("slides of lesson 03, up to the chunk that must attend first", 6),
        Item("at the keyboard", 0, ("case03-trim",)),
        Item("live: `ringkv cases`, aimed at the caches installed here", 4),
        Item("what to take home, and where to go on", 4),
    )),
    "half a day": Plan(240, (
        Item("`ringkv doctor`, lesson 00", 3, ("ex00-last",)),
        Item("[ten minutes unplugged](unplugged.md)", 10),
        Item("slides of lesson 01", 8),
        Item("at the keyboard", 0, ("predict01", "ex02-append", "ex04-attend")),
        Item("at the keyboard", 0, ("ex05-edge", "ex06-empty", "ex07-distance")),
        Item("break", 15),
        Item("slides of lesson 02: one array, the mask from positions", 7),
        Item("at the keyboard", 0, ("np2-write", "predict02", "np5-mask")),
        Item("slides of lesson 03", 8),
        Item("at the keyboard", 0, ("chunk2-mask", "chunk3-step", "predict03", "case03-trim")),
        Item("break", 15),
        Item("slides of lesson 04, up to right by luck", 8),
        Item("at the keyboard", 0, ("predict04", "rope5-three")),
        Item("lesson 07 on the screen: the cliff, and four slots that cure it", 12),
        Item("live: `ringkv cases`, and what to do at home", 8),
    )),
    "the first of two days": Plan(360, (
        Item("`ringkv doctor`", 5),
        Item("whole lesson", 0, (), ("00",)),
        Item("[ten minutes unplugged](unplugged.md)", 10),
        Item("slides of lesson 01, then the whole lesson", 8, (), ("01",)),
        Item("break", 15),
        Item("slides of lesson 02, then the whole lesson", 8, (), ("02",)),
        Item("break", 15),
        Item("slides of lesson 03, then the whole lesson", 8, (), ("03",)),
        Item("look back: which mistake did the checks name most often?", 10),
    )),
    "the second of two days": Plan(360, (
        Item("three questions of [the quiz](quiz.md) for each lesson of yesterday", 10),
        Item("slides of lesson 04, then the whole lesson", 8, (), ("04",)),
        Item("break", 15),
        Item("slides of lesson 05, then the whole lesson", 8, (), ("05",)),
        Item("break", 15),
        Item("slides of lesson 07, then at the keyboard", 12, ("mo1-layer", "mo2-reach")),
        Item("at the keyboard", 0, ("mo4-perplexity", "predict07", "mo5-ring")),
        Item("live: the cliff, its cure, and a class of somebody's under the model", 15),
        Item("`ringkv cases` on the class that everyone wrote", 10),
        Item("look back; the rest of lesson 07, and lesson 06, as homework", 5),
    )),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """An exercise as its header states it, in the lesson of this number."""

    lesson: str
    title: str
    minutes: int


@cache
def _sources() -> Mapping[str, Lesson]:
    """Read every lesson's source, by its number: what is there before anything is built."""
    paths = sorted((course_root() / "course" / "lessons").glob("[0-9][0-9]_*.py"))
    return {path.stem[:2]: read_lesson(path) for path in paths}


@cache
def tasks() -> Mapping[str, Task]:
    """Give every exercise by its id."""
    found = {}
    for number, lesson in _sources().items():
        for cell in lesson.cells:
            header = HEADER.search(cell.source) if cell.kind == "markdown" else None
            if header:
                title = TITLE.findall(cell.source[: header.start()])[-1]
                found[cell.id.removesuffix("-why")] = Task(number, title, int(header["minutes"]))
    return found


def lesson_minutes(number: str) -> int:
    """Give the minutes that a lesson states for itself as a whole."""
    found = LESSON_MINUTES.search(_sources()[number].cells[0].source)
    if found is None:
        raise ValueError(f"lesson {number} does not say how many minutes it takes")
    return int(found[1] or found[2])


def minutes_of(item: Item) -> int:
    """Add up what an item takes."""
    own = [tasks()[name].minutes for name in item.exercises]
    return item.minutes + sum(own) + sum(map(lesson_minutes, item.lessons))


def table_of(name: str) -> str:
    """Write a plan's table, or the one of where people get stuck."""
    return _stuck() if name == "stuck" else _plan(name, PLANS[name])


def fill(page: str) -> str:
    """Put every table of the page anew between its marks."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table_of(found[2])}\n\n{found[3]}", page)


def _plan(name: str, plan: Plan) -> str:
    rows, clock = [("minute", "minutes", "what", "exercises and lessons")], 0
    for item in plan.items:
        taken = minutes_of(item)
        rows.append((str(clock), str(taken), item.what, _named(item)))
        clock += taken
    if clock > plan.minutes:
        raise ValueError(f"{name} has {plan.minutes} minutes; its items take {clock}")
    rows.append(
        (str(clock), str(plan.minutes - clock), "open: questions, whoever needs longer", "")
    )
    rows.append((str(plan.minutes), "", "end", ""))
    return _table(rows)


def _named(item: Item) -> str:
    found = [f"lesson {number} ({lesson_minutes(number)})" for number in item.lessons]
    for name in item.exercises:
        found.append(f"{tasks()[name].lesson} `{name}` ({tasks()[name].minutes})")
    return ", ".join(found)


def _stuck() -> str:
    rows = [("exercise", "what the check names", "what to say")]
    for name, mistakes, words in STUCK:
        lesson, title = tasks()[name].lesson, tasks()[name].title
        title = re.sub(r"^Exercise (\d+): ", r"exercise \1, ", title)
        title = re.sub(r"^Case file: ", "case file, ", title)
        known = _sentences(lesson)[name]
        said = "; ".join(f"`{each}`: {_first(known[each])}" for each in mistakes)
        rows.append((f"{lesson} {title}: `{name}`", said, words))
    return _table(rows)


@cache
def _sentences(lesson: str) -> Mapping[str, Mapping[str, str]]:
    module = import_module(f"ringkv_edu.checks.lesson_{lesson}")
    return {e.id: {m.name: m.sentence for m in e.mutants} for e in module.EXERCISES}


def _first(sentence: str) -> str:
    """Give what comes before the first full stop or colon of a mistake's sentence."""
    return re.split(r"\. |: ", sentence)[0].rstrip(".")


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
