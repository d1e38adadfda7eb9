"""Every exercise of every lesson, found by itself.

For each: the stub fails, the solution passes, correct answers in other styles (`styles/`) pass,
and each known mistake fails and is named as itself, on several seeds.
"""

from __future__ import annotations

import contextlib
import io
import os
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import nbformat
import pytest

from ringkv_edu.checks import exercises
from ringkv_edu.checks.judge import SEEDS, judge
from ringkv_edu.checks.model import Exercise
from ringkv_edu.grading.release import lessons, source_of

ROOT = Path(__file__).resolve().parents[1]
STYLES = Path(__file__).parent / "styles"
ALL = list(exercises().values())
MUTANTS = [(e, m) for e in ALL for m in e.mutants]
DEEP = "RINGKV_DEEP" in os.environ  # more draws: minutes, for every change of a check
TRIED = (SEEDS, (3,), (4,), (5,)) if DEEP else (SEEDS, (3,))

each_exercise = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)


def lesson_of(exercise: Exercise) -> str:
    return next(name for name, lesson in lessons().items() if exercise.id in lesson.answers())


def names_after(exercise: Exercise, answer: str) -> dict[str, Any]:
    """Run a lesson's first code cell, then the answer, as a notebook would."""
    setup = next(lessons()[lesson_of(exercise)].cells("given"))
    names: dict[str, Any] = {}
    exec(compile(source_of(setup), "setup", "exec"), names)
    exec(compile(answer, exercise.id, "exec"), names)
    return names


@cache
def solution_book(lesson: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "solutions" / f"{lesson}.ipynb", 4)


def solution_of(exercise: Exercise) -> str:
    cells = solution_book(lesson_of(exercise)).cells
    return next(cell.source for cell in cells if cell.id == exercise.id)


@cache
def right_outputs(name: str) -> tuple[dict[str, Any], list[str]]:
    """Give the names after an exercise's solution, and what its graded cell prints with each seed."""
    right = names_after(exercises()[name], solution_of(exercises()[name]))
    return right, [graded_output(exercises()[name], right, seed) for seed in GRADED_SEEDS]


def styles() -> list[Any]:
    paths = sorted(STYLES.glob("*.py"))
    return [pytest.param(exercises()[p.stem.split("--")[0]], p, id=p.stem) for p in paths]


@each_exercise
def test_the_stub_fails(exercise: Exercise) -> None:
    stub = lessons()[lesson_of(exercise)].answers()[exercise.id]
    verdict = judge(exercise, names_after(exercise, stub))
    assert not verdict.right
    assert len(verdict.lines) <= 6


@each_exercise
def test_the_solution_passes(exercise: Exercise) -> None:
    names = names_after(exercise, solution_of(exercise))
    for seeds in TRIED:
        verdict = judge(exercise, names, seeds)
        assert verdict.right, str(verdict)


@each_exercise
def test_no_case_makes_the_right_answer_raise(exercise: Exercise) -> None:
    """An answer that raises the same would count as right."""
    for seed in range(5):
        for case in exercise.cases(Random(seed)):
            case.run(exercise.answer())


@pytest.mark.parametrize(("exercise", "path"), styles())
def test_a_correct_answer_in_another_style_passes(exercise: Exercise, path: Path) -> None:
    names = names_after(exercise, path.read_text(encoding="utf-8"))
    for seeds in TRIED:
        verdict = judge(exercise, names, seeds)
        assert verdict.right, str(verdict)


@pytest.mark.parametrize(
    ("exercise", "mutant"), MUTANTS, ids=[f"{e.id}-{m.name}" for e, m in MUTANTS]
)
def test_a_known_mistake_is_named_as_itself(exercise: Exercise, mutant) -> None:
    for seeds in TRIED:
        verdict = judge(exercise, {**exercise.reference, **mutant.answer}, seeds)
        assert not verdict.right
        assert verdict.mistake == mutant.name, str(verdict)
        assert mutant.sentence in str(verdict)
        assert "This case is what" not in str(verdict)
        assert len(verdict.lines) <= 6


GRADED = [
    (e, m) for e, m in MUTANTS if f"{e.id}-graded" in {c.id for c in lessons()[lesson_of(e)].graded}
]
GRADED_SEEDS = range(8 if DEEP else 3)


def graded_output(exercise: Exercise, names: dict[str, Any], seed: int) -> str:
    """What a graded cell prints with another seed, or the type of the error that ends it."""
    cells = lessons()[lesson_of(exercise)].cells("graded")
    source = next(source_of(cell) for cell in cells if cell["id"] == f"{exercise.id}-graded")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(source.replace("SEED = 0", f"SEED = {seed}"), dict(names))
        except Exception as error:
            print(type(error))
    return out.getvalue()


@pytest.mark.parametrize(
    ("exercise", "mutant"), GRADED, ids=[f"{e.id}-{m.name}" for e, m in GRADED]
)
def test_the_graded_cell_sees_a_known_mistake(exercise: Exercise, mutant) -> None:
    right, expected = right_outputs(exercise.id)
    for seed in GRADED_SEEDS:
        found = graded_output(exercise, {**right, **mutant.answer}, seed)
        assert found != expected[seed], f"seed {seed}"


@pytest.mark.parametrize(("exercise", "path"), styles())
def test_the_graded_cell_takes_a_correct_answer_in_another_style(
    exercise: Exercise, path: Path
) -> None:
    if (exercise, exercise.mutants[0]) not in GRADED:
        return  # an exercise without points
    _, expected = right_outputs(exercise.id)
    names = names_after(exercise, path.read_text(encoding="utf-8"))
    for seed in GRADED_SEEDS:
        assert graded_output(exercise, names, seed) == expected[seed]


@each_exercise
def test_there_are_enough_mistakes_and_styles(exercise: Exercise) -> None:
    assert len(exercise.mutants) >= 4
    assert len({mutant.name for mutant in exercise.mutants}) == len(exercise.mutants)
    assert len(list(STYLES.glob(f"{exercise.id}--*.py"))) >= 2
    for mutant in exercise.mutants:
        assert set(mutant.answer) <= set(exercise.names)
        assert not mutant.sentence.endswith(".")


def test_every_answer_cell_has_its_exercise() -> None:
    answers = {name for lesson in lessons().values() for name in lesson.answers()}
    assert answers == set(exercises())
