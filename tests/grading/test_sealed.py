"""What a sealed run's points rest on: seeds, credit by line, rules, oracles, the solutions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ringkv_edu.graded import fixed
from ringkv_edu.grading import HIDDEN
from ringkv_edu.grading.by_hand import FORBIDDEN, GIVEN, broken_rule
from ringkv_edu.grading.release import lessons
from ringkv_edu.grading.sealed import oracle
from ringkv_edu.grading.sealed.credit import credit, mistake_of, rounded
from ringkv_edu.grading.sealed.oracle import KnownMistake, Oracle, ask
from ringkv_edu.grading.sealed.seeds import ATTEMPTS, fresh_key, seeds
from ringkv_edu.grading.sealed.session import solutions_folder

from .submissions import LESSON_00, LESSON_01, ROOT, WRONG, answered, run, solution, text

OWNER = {exercise: name for name, lesson in lessons().items() for exercise in lesson.answers()}


# seeds


def test_the_same_key_draws_the_same_seeds() -> None:
    assert list(seeds("a", LESSON_00)) == list(seeds("a", LESSON_00))
    assert len(set(seeds("a", LESSON_00))) == ATTEMPTS


def test_another_key_lesson_or_learner_draws_others() -> None:
    drawn = [("a", LESSON_00, ""), ("b", LESSON_00, ""), ("a", LESSON_01, ""),
             ("a", LESSON_00, "ann"), ("a", LESSON_00, "bo")]  # fmt: skip
    assert len({next(iter(seeds(*one))) for one in drawn}) == len(drawn)


def test_a_seed_is_never_the_released_one() -> None:
    assert 0 not in set(seeds("a", LESSON_00))
    assert fresh_key() != fresh_key()
    assert len(fresh_key()) == 32


# credit


def mistakes(*printed: str) -> list[KnownMistake]:
    return [KnownMistake(f"m{n}", f"sentence {n}", one) for n, one in enumerate(printed)]


WANT = "fixed\nseeded 1\nseeded 2\nalways\n"
KNOWN = ("fixed\nseeded 9\nseeded 9\nalways\n",)
ERRS = mistakes("fixed\nwrong\nseeded 2\nalways\n", "fixed\nseeded 1\nwrong\nalways\n")


@pytest.mark.parametrize(
    ("printed", "share"),
    [
        (WANT, Fraction(1)),
        ("fixed\nseeded 1\nno\nalways\n", Fraction(1, 2)),
        ("fixed\nno\nno\nalways\n", Fraction(0)),  # fixed lines by themselves earn nothing
        ("no\nseeded 1\nno\nalways\n", Fraction(0)),  # and cost where they are missing
        ("fixed\nseeded 1\nseeded 2\nalways\nmore\n", Fraction(1, 2)),  # as do lines too many
        ("seeded 1\nseeded 2\n", Fraction(0)),  # each line at its own place
        ("fixed\nseeded 1\nseeded 2\nno\n", Fraction(1, 2)),
        ("", Fraction(0)),
        (WANT.rstrip("\n"), Fraction(3, 4)),  # all but a line's end is not all
        (WANT + "\n" * 500, Fraction(0)),
    ],
)
def test_credit_by_line(printed: str, share: Fraction) -> None:
    assert credit(WANT, printed, KNOWN, ERRS).share == share


def test_a_line_that_every_mistake_gets_right_earns_nothing() -> None:
    either = mistakes("seen\nwrong\n", "seen\nodd\n")
    assert credit("seen\ntold\n", "seen\nx\n", (), either).share == 0
    assert credit("seen\ntold\n", "x\ntold\n", (), either).share == 0
    assert credit("seen\ntold\n", "seen\ntold\n", (), either).share == 1


def test_a_mistake_that_raises_does_not_make_later_lines_telling() -> None:
    raising = mistakes("a\n!ValueError", "a\nwrong\nc\n")
    assert credit("a\nb\nc\n", "a\nx\nc\n", (), raising).share == 0


def test_points_are_rounded_down_and_never_whole_by_parts() -> None:
    assert rounded(3, Fraction(2, 3)) == 2
    assert rounded(1, Fraction(1, 3)) == 0.33
    assert credit("a\n", "a", (), mistakes("b\n")).share < 1


def test_a_mistake_is_named_by_what_it_prints() -> None:
    assert mistake_of(ERRS[1].printed, ERRS) is ERRS[1]
    assert mistake_of(WANT, ERRS) is None


# rules


def answers_of_the_course() -> Iterator[tuple[str, str, str]]:
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["id"] in OWNER:
                yield path.stem, cell["id"], "".join(cell["source"])
    for path in sorted((ROOT / "tests" / "styles").glob("*.py")):
        yield path.stem, path.stem.split("--")[0], path.read_text(encoding="utf-8")


def test_right_answers_in_every_style_break_no_rule() -> None:
    found = [(name, broken) for name, exercise, source in answers_of_the_course()
             if (broken := broken_rule(OWNER[exercise], exercise, source))]  # fmt: skip
    assert found == []


@pytest.mark.parametrize("module", HIDDEN)
def test_an_import_of_what_holds_answers_breaks_a_rule(module: str) -> None:
    parent, _, name = module.rpartition(".")
    for source in (f"import {module}", f"from {module} import x", f"from {parent} import {name}",
                   f"import importlib\nm = importlib.import_module('{module}')",
                   f"x = !true\nimport {module} as m"):  # fmt: skip
        assert "holds answers" in broken_rule(LESSON_00, "ex00-last", source), source


@pytest.mark.parametrize("exercise", FORBIDDEN)
def test_what_is_the_exercise_breaks_its_rule_however_it_is_written(exercise: str) -> None:
    lesson = OWNER[exercise]
    for name in FORBIDDEN[exercise]:
        for source in (f"from torch import {name}", f"import torch\ny = torch.nn.{name}(x)",
                       f"y = getattr(torch, '{name}')", f"%%time\nfrom torch import {name}",
                       f"x = !true\nfrom torch import {name}", f">>> y = {name}(x)",
                       f"!true\rfrom torch import {name}\r", f"%time y = 1\ny = torch.{name}(x)"):  # fmt: skip
            assert f"uses `{name}`" in broken_rule(lesson, exercise, source), source


@pytest.mark.parametrize("exercise", GIVEN)
def test_given_code_is_no_answer_where_it_does_the_exercise(exercise: str) -> None:
    for name in GIVEN[exercise]:
        assert "does what the exercise asks" in broken_rule(OWNER[exercise], exercise, f"{name}(1)")
        own = f"def {name}(x):\n    return x\n\nself.{name}({name}(1))"
        assert broken_rule(OWNER[exercise], exercise, own) == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [("x" * 50_001, "more than 50,000 characters"), ("x = !true\n" * 3_000, "3000 magics"),
     ("x = '\ud800'", "half a character"), ("def f(:", ""), ("x = '\\d'", ""), ("\0", ""),
     ("# is it?\n" * 5_000, "")],
)  # fmt: skip
def test_odd_sources(source: str, words: str) -> None:
    broken = broken_rule(LESSON_00, "ex00-last", source)
    assert words in broken
    assert bool(broken) == bool(words)


# oracles


def pretend(monkeypatch: pytest.MonkeyPatch, source: str, wrong: Any = None) -> None:
    """A lesson with one graded cell, and one known mistake if there is a ``wrong`` answer."""
    cells = {"graded": [{"id": "x-graded", "source": source}], "answer": []}
    book = SimpleNamespace(cells=lambda role: cells[role],
                           graded=[SimpleNamespace(id="x-graded", exercise="x")])  # fmt: skip
    monkeypatch.setattr(oracle, "lessons", lambda: {"pretended": book})
    made = tuple(KnownMistake("m", "s", oracle._printed(source, {"answer": wrong}, seed))
                 for seed in range(wrong is not None))  # fmt: skip
    monkeypatch.setattr(oracle, "_mistakes", lambda lesson, names, seed: {"x": made})


def test_a_seed_near_a_rounding_edge_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "SEED = 0\nprint(fixed(SEED / 2000, 3))")
    found = next(oracle._telling("pretended", {"fixed": fixed}, [1, 3, 4, 6]))
    assert found.seed == 4  # 0.0005 and 0.0015 may be rounded up or down
    assert found.references == {"x-graded": "0.002\n"}


def test_a_seed_with_which_a_mistake_is_right_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "SEED = 0\nprint(answer(SEED))"
    pretend(monkeypatch, source)
    monkeypatch.setattr(oracle, "_mistakes", lambda lesson, names, seed: {
        "x": (KnownMistake("m", "s", oracle._printed(source, {"answer": lambda n: 2 * n}, seed)),)})  # fmt: skip
    found = next(oracle._telling("pretended", {"answer": lambda n: n * n}, [2, 0, 5]))
    assert found.seed == 5
    assert found.mistakes["x"][0].printed == "10\n"


def test_an_oracle_is_the_same_for_the_same_key_and_can_be_sent() -> None:
    path = ROOT / "solutions" / f"{LESSON_00}.ipynb"
    found = ask(LESSON_00, path, seeds("k", LESSON_00))
    assert found == Oracle.from_json(found.to_json()) == ask(LESSON_00, path, seeds("k", LESSON_00))
    assert found != ask(LESSON_00, path, seeds("other", LESSON_00))
    assert found.seed in set(seeds("k", LESSON_00))


def test_an_oracle_takes_no_code_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "ringkv_edu/__init__.py", "course/lessons/x.py", "numpy.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('taken from the current folder')")
    monkeypatch.chdir(tmp_path)
    assert solutions_folder() == ROOT / "solutions"
    ask(LESSON_00, ROOT / "solutions" / f"{LESSON_00}.ipynb", seeds("k", LESSON_00))


# the course itself


def test_every_solution_earns_everything_sealed(tmp_path: Path) -> None:
    for name in lessons():
        (tmp_path / f"{name}.ipynb").write_bytes(text(solution(name)))
    result = run(tmp_path, "--ringkv-sealed", "-n", "2")
    worth = sum(lesson.points for lesson in lessons().values())
    assert result.code == 0, result.output[-3000:]
    assert f"{worth}/{worth}\n" in result.output


def test_a_wrong_answer_does_not(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / f"{LESSON_00}.ipynb").write_bytes(text(answered(WRONG)))
    result = run(tmp_path, "--ringkv-sealed", RINGKV_SEALED_KEY="k")
    again = run(tmp_path, "--ringkv-sealed", RINGKV_SEALED_KEY="k")
    assert 0 < result.earned("ann") == again.earned("ann") < 1
    assert result.part("ann") == again.part("ann")
    assert "as if the first tokens are kept in place of the last" in result.part("ann")
    assert "RINGKV_SEALED_KEY=k" in result.output
