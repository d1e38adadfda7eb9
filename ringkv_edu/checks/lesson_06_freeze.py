"""Lesson 06, case file: a mean that stops moving (after numpy/numpy#7933)."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np

from . import lesson_06_freeze_mistakes as wrong
from .code_case import CASE
from .lesson_06_freeze_mistakes import Summary, changed
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["FREEZE"]

ROOM = 8  # numbers that a summary may keep for each number of a key


def _freeze_cases(rng: Random) -> list[Case]:
    near, later = rng.choice([0.5, 1.0, 2.0]), rng.choice([3.0, -1.0, 4.0])
    runs: list[list[tuple[int, tuple[float, ...]]]] = [
        [],
        [(1, (1.5, -2.0))],
        [(3, (1.0, 2.0)), (1, (3.0, -2.0))],
        [(1500, (1.0, -1.0)), (4500, (1.5, 1.0))],  # the report
        [(2048, (1.0,)), (2048, (2.0,))],
        [(700, (near,)), (2100, (later,))],
    ]
    return [_case(run) for run in runs]


def _case(run: Iterable[tuple[int, tuple[float, ...]]]) -> Case:
    parts = list(run)
    d = len(parts[0][1]) if parts else 2
    added = [
        f"key = np.array({list(key)}, np.float16); [summary.add(key) for _ in range({n})]"
        for n, key in parts
    ]
    line = "; ".join([f"summary = Summary({d})", *added])
    code = compile(line, CASE, "exec")

    def run_it(answer: Answer) -> dict[str, Any]:
        space: dict[str, Any] = {"Summary": answer.Summary, "np": np}
        exec(code, space)
        return _look(space["summary"], d)

    return Case(line, run_it)


def _look(summary: Any, d: int) -> dict[str, Any]:
    mean = summary.read()
    kept = sum(_size(x) for x in vars(summary).values())
    return {
        "summary.read(), to 3 decimals": [round(float(x), 3) for x in mean],
        "type of summary.read()": str(getattr(mean, "dtype", type(mean).__name__)),
        "numbers kept": "a few" if kept <= ROOM * d else kept,
    }


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, list | tuple):
        return sum(_size(x) for x in value)
    return 1


FREEZE = Exercise(
    id="case06-freeze",
    names=("Summary",),
    cases=_freeze_cases,
    reference=answers(Summary),
    mutants=(
        Mutant(
            "half",
            "mean and count are both still float16: the count stops at 2048, and long before that "
            "the steps become too small to move the mean",
            changed(mean_type=wrong.HALF, count_type=wrong.HALF),
        ),
        Mutant(
            "mean-alone",
            "the mean is wider now and the count is still float16: it counts up to 2048 and then "
            "stands still, so every later key gets too large a share",
            changed(count_type=wrong.HALF),
        ),
        Mutant(
            "count-alone",
            "the count is right now and the mean is still kept in float16, or rounded to it before "
            "the next key comes: a step of less than half its spacing does not move it",
            changed(mean_type=wrong.HALF),
        ),
        Mutant(
            "sum-in-half",
            "the sum is kept in float16: it stops growing, too, and earlier than the mean does",
            answers(Summary=wrong.AddsUp),
        ),
        Mutant(
            "keeps-all",
            "every key is kept: a summary is there so that they can go",
            answers(Summary=wrong.KeepsAll),
        ),
        Mutant(
            "begins-again",
            "the count begins again at 2048: the keys before that lose their weight",
            answers(Summary=wrong.Resets),
        ),
        Mutant(
            "count-too-late",
            "the step is divided by the number of keys before this one: the first is divided by 0",
            answers(Summary=wrong.CountsLate),
        ),
        Mutant(
            "half-and-half",
            "each new key gets half the weight: it is one among count",
            answers(Summary=wrong.Halves),
        ),
        Mutant(
            "read-wide",
            "read() gives more than float16: keep the mean wide, and round what you hand out",
            changed(read=wrong.in_single),
        ),
        Mutant(
            "read-list",
            "read() gives a list: give an array of float16",
            changed(read=wrong.as_list),
        ),
    ),
)
