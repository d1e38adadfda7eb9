"""Every exercise of every lesson, found by itself.

For each: the stub fails, the solution passes, correct answers in other styles (`styles/`) pass,
and each known mistake fails and is named as itself, on several seeds.
"""

from __future__ import annotations

import time
from pathlib import Path
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
TRIED = (SEEDS, (3,), (4,), (5,))

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


def solution_of(exercise: Exercise) -> str:
    book = nbformat.read(ROOT / "solutions" / f"{lesson_of(exercise)}.ipynb", 4)
    return next(cell.source for cell in book.cells if cell.id == exercise.id)


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
        assert "Something else" not in str(verdict)
        assert len(verdict.lines) <= 6


@each_exercise
def test_there_are_enough_mistakes_and_styles(exercise: Exercise) -> None:
    assert len(exercise.mutants) >= 4
    assert len({mutant.name for mutant in exercise.mutants}) == len(exercise.mutants)
    assert len(list(STYLES.glob(f"{exercise.id}--*.py"))) >= 2
    for mutant in exercise.mutants:
        assert set(mutant.answer) <= set(exercise.names)
        assert not mutant.sentence.endswith(".")


@each_exercise
def test_a_check_takes_less_than_a_second(exercise: Exercise) -> None:
    """A bound far above what is measured (0.05-0.2 s), so that it tells a hang, not a slow machine."""
    begun = time.process_time()
    judge(exercise, names_after(exercise, solution_of(exercise)))
    assert time.process_time() - begun < 1


def test_every_answer_cell_has_its_exercise() -> None:
    answers = {name for lesson in lessons().values() for name in lesson.answers()}
    assert answers == set(exercises())
