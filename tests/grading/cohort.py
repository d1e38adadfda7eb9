"""A made-up class whose points are known beforehand: right, half-done, wrong in known ways, broken."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from ringkv_edu.checks import exercise
from ringkv_edu.grading.release import lessons
from ringkv_edu.grading.sealed.credit import credit, rounded
from ringkv_edu.grading.sealed.marks import printed_by
from ringkv_edu.grading.sealed.oracle import Oracle

from .submissions import ROOT, cell, released, solution, text

PACKAGE = ROOT / "ringkv_edu"
STYLES = ROOT / "tests" / "styles"
RELATIVE = re.compile(r"^\s*from (\.+)([\w.]*) import (.+?)$", re.MULTILINE)
# Runs the package's own sources, pasted in under another name: what no rule can tell from one's own.
PASTED = """
import base64, importlib, importlib.abc, importlib.util, json, sys, zlib

_sources = json.loads(zlib.decompress(base64.b64decode({blob!r})))


class _Pasted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name == "pasted" or name.startswith("pasted."):
            package = any(one.startswith(f"{{name}}.") for one in _sources)
            return importlib.util.spec_from_loader(name, self, is_package=package)

    def create_module(self, spec):
        if not spec.name.startswith("pasted.checks"):  # the graded cell's own classes
            try:
                return importlib.import_module(spec.name.replace("pasted", "ringkv_edu"))
            except ImportError:
                return None

    def exec_module(self, module):
        if module.__name__.startswith("pasted"):
            module.__file__ = f"/pasted/ringkv_edu/checks/{{module.__name__}}.py"
            exec(compile(_sources.get(module.__name__, ""), module.__name__, "exec"), vars(module))


sys.meta_path.insert(0, _Pasted())
import pasted.checks.{module} as _checks

_exercise = next(e for e in vars(_checks).values() if getattr(e, "id", "") == {exercise!r})
_wrong = next((m.answer for m in _exercise.mutants if m.name == {mutant!r}), {{}})
globals().update(vars(_exercise.answer(_wrong)))
"""


@dataclass(frozen=True)
class Member:
    """One learner's notebook, and what it must be given: points and mistakes by exercise."""

    name: str
    lesson: str
    data: bytes
    earned: dict[str, float]
    mistakes: dict[str, str]
    problem: str = ""


def members(oracles: dict[str, Oracle], many: int, seed: int = 0) -> Iterator[Member]:
    """Give ``many`` learners: every known mistake once at most, then the rest in turns."""
    rng = Random(seed)
    wrong = [(name, graded.exercise, one.name)
             for name in oracles for graded in lessons()[name].graded
             for one in exercise(graded.exercise).mutants]  # fmt: skip
    rng.shuffle(wrong)
    kinds = ["right", "style", "partial", "broken", "untouched"]
    for number in range(many):
        name, lesson = f"learner-{number:03}", rng.choice(list(oracles))
        if number % 2 and wrong:
            yield mistaken(name, *wrong.pop(), oracles)
        else:
            yield globals()[kinds[number // 2 % len(kinds)]](name, lesson, rng)


def right(name: str, lesson: str, rng: Random) -> Member:
    return Member(name, lesson, text(solution(lesson)), _all(lesson), {})


def untouched(name: str, lesson: str, rng: Random) -> Member:
    return Member(name, lesson, text(released(lesson)), dict.fromkeys(_all(lesson), 0), {})


def style(name: str, lesson: str, rng: Random) -> Member:
    """Answer everything in another right way, where there is one."""
    book = solution(lesson)
    for each in _all(lesson):
        ways = sorted(STYLES.glob(f"{each}--*.py"))
        if ways:
            cell(book, each)["source"] = rng.choice(ways).read_text(encoding="utf-8")
    return Member(name, lesson, text(book), _all(lesson), {})


def partial(name: str, lesson: str, rng: Random) -> Member:
    """Leave a part of the exercises untouched."""
    book, stubs, earned = solution(lesson), released(lesson), _all(lesson)
    for each in [one for one in earned if rng.random() < 0.5]:
        cell(book, each)["source"] = cell(stubs, each)["source"]
        earned[each] = 0
    return Member(name, lesson, text(book), earned, {})


def broken(name: str, lesson: str, rng: Random) -> Member:
    """Hand in something that no grader can read, or that does not end well."""
    whole = text(solution(lesson))
    data, problem = rng.choice([
        (b"", "the file is empty"),
        (whole[: len(whole) // 2], "its JSON is broken"),
        (b"\x80" + whole, "not UTF-8"),
        (b"[]", "it has no cells"),
        (b"<<<<<<< HEAD\n" + whole, "merge-conflict"),
    ])  # fmt: skip
    return Member(name, lesson, data, dict.fromkeys(_all(lesson), 0), {}, problem)


def mistaken(name: str, lesson: str, wrong: str, mutant: str, oracles: dict[str, Oracle]) -> Member:
    """Solve everything but one exercise, and make one known mistake there."""
    oracle, book, earned = oracles[lesson], solution(lesson), _all(lesson)
    cell(book, wrong)["source"] = pasted(wrong, mutant)
    mistakes = oracle.mistakes[wrong]
    made = next(one for one in mistakes if one.name == mutant)
    shown = printed_by(cell(released(lesson), f"{wrong}-graded")["outputs"])
    known = shown, oracle.untouched[f"{wrong}-graded"]
    stdout = made.printed.split("\n!")[0] if "\n!" in made.printed else made.printed
    share = credit(oracle.references[f"{wrong}-graded"], stdout, known, mistakes).share
    earned[wrong] = rounded(int(earned[wrong]), share)
    same = next(one.name for one in mistakes if one.printed == made.printed)
    return Member(name, lesson, text(book), earned, {wrong: same})


def pasted(name: str, mutant: str = "") -> str:
    """Give an answer cell that holds the package's own sources: a mistake, or the right answer."""
    module = next(m for m in sorted((PACKAGE / "checks").glob("lesson_*.py"))
                  if f'id="{name}"' in m.read_text(encoding="utf-8")).stem  # fmt: skip
    sources = _closure(f"checks.{module}")
    blob = base64.b64encode(zlib.compress(json.dumps(sources).encode(), 9)).decode()
    return PASTED.format(blob=blob, module=module, exercise=name, mutant=mutant)


@cache
def _closure(first: str) -> dict[str, str]:
    found: dict[str, str] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        path = PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
        if f"pasted.{name}" in found or not path.is_file():
            continue
        source = path.read_text(encoding="utf-8")
        found[f"pasted.{name}"] = source
        parent = name.split(".")[:-1]
        for dots, module, names in RELATIVE.findall(source):
            base = parent[: len(parent) - len(dots) + 1]
            waiting.append(".".join([*base, module]) if module else "")
            waiting += [".".join([*base, *filter(None, [module]), one.strip()])
                        for one in names.strip("()").split(",") if one.strip()]  # fmt: skip
    return found


def _all(lesson: str) -> dict[str, float]:
    return {graded.exercise: graded.points for graded in lessons()[lesson].graded}


def hand_in(folder: Path, some: list[Member]) -> None:
    for one in some:
        (folder / one.name).mkdir(parents=True)
        (folder / one.name / f"{one.lesson}.ipynb").write_bytes(one.data)


def faults(grades: dict[str, Any], some: list[Member]) -> list[str]:
    """Compare grades.json with what is known; give one line for each grade that is wrong."""
    got = {one["id"]: one for one in grades["learners"]}
    wrong = []
    for member in some:
        (result,) = got[member.name]["results"]
        earned = {one["exercise"]: one["earned"] for one in result["exercises"]}
        named = {one["exercise"]: one["mistake"] for one in result["exercises"] if one["mistake"]}
        if earned != member.earned or result["lesson"] != member.lesson:
            diff = {k: (v, earned.get(k)) for k, v in member.earned.items() if earned.get(k) != v}
            wrong.append(f"{member.name} {member.lesson}: {diff} {result['exercises']}")
        if named != member.mistakes:
            wrong.append(f"{member.name}: {named}, not {member.mistakes}")
        if member.problem not in result["problem"] or bool(member.problem) != bool(
            result["problem"]
        ):
            wrong.append(f"{member.name}: {result['problem']!r}, not {member.problem!r}")
    return wrong
