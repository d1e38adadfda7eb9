"""The points table, xdist, and other people's notebooks."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from ringkv_edu.grading.release import lessons

from .submissions import LESSON_00, LESSON_01, RIGHT, ROOT, answered, cell, run, solution, text


def copy_release(folder: Path) -> None:
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, folder)


def test_untouched_notebooks_are_red_and_say_so(tmp_path: Path) -> None:
    copy_release(tmp_path)
    result = run(tmp_path)
    assert result.code == 1
    assert "Nothing is solved yet: begin with the first exercise of 00_start_here" in result.output
    worth = sum(
        c["metadata"]["nbgrader"].get("points", 0)
        for path in tmp_path.glob("*.ipynb")
        for c in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if "nbgrader" in c["metadata"]
    )
    assert f"course               0/{worth}\n" in result.output
    assert "Traceback" not in result.output


def test_partly_solved(tmp_path: Path) -> None:
    book = solution(LESSON_01)
    released = json.loads((ROOT / "notebooks" / f"{LESSON_01}.ipynb").read_text(encoding="utf-8"))
    cell(book, "ex04-attend")["source"] = cell(released, "ex04-attend")["source"]
    cell(book, "ex05-edge")["source"] = "def sees(q, k, w):\n    return 0 <= q - k <= w\n"
    (tmp_path / f"{LESSON_01}.ipynb").write_bytes(text(book))
    output = run(tmp_path).output
    assert "  ex04-attend        0/3    not solved yet\n" in output
    assert "  ex05-edge          0/3    line 1: reference '" in output
    assert "  lesson             18/24\n" in output
    others = [name[:2] for name in lessons() if name != LESSON_01]
    assert f"(lesson{'s' * (len(others) > 1)} {', '.join(others)} not in this run)" in output
    assert "Nothing is solved" not in output
    assert "    reference: window 4, query at 8 sees 5 6 7 8\n" in output
    assert "    yours:     window 4, query at 8 sees 4 5 6 7 8\n" in output


def test_workers_keep_a_notebook_together(tmp_path: Path) -> None:
    for learner in ("ann", "bo"):
        (tmp_path / learner).mkdir()
        for lesson in (LESSON_00, LESSON_01):
            (tmp_path / learner / f"{lesson}.ipynb").write_bytes(text(solution(lesson)))
    result = run(tmp_path, "-n", "2")
    assert result.code == 0
    for learner in ("ann", "bo"):
        assert re.search(rf"^course, {learner} +25/\d", result.output, re.MULTILINE)


def test_workers_outside_the_folder_and_below_hidden_ones(tmp_path: Path) -> None:
    subs, here = tmp_path / ".hidden" / "subs", tmp_path / ".hidden" / "here"
    here.mkdir(parents=True)
    for learner in ("ann", "bo"):
        (subs / learner).mkdir(parents=True)
        (subs / learner / f"{LESSON_01}.ipynb").write_bytes(text(solution(LESSON_01)))
    result = run(here, "-n", "2", "../subs")
    assert result.code == 0
    assert result.output.count("lesson             24/24") == 2


@pytest.mark.parametrize(
    "arguments", [("-k", "ex05"), ("::ex05-edge-graded",), ("--lf",), ("--ff",)]
)
def test_a_notebook_runs_whole(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    name = f"{LESSON_01}.ipynb"
    book = solution(LESSON_01)
    right = cell(book, "ex05-edge")["source"]
    cell(book, "ex05-edge")["source"] = "def sees(q, k, w):\n    return 0 <= q - k <= w\n"
    (tmp_path / name).write_bytes(text(book))
    if arguments[0].startswith("--"):
        run(tmp_path, "-p", "cacheprovider")
    cell(book, "ex05-edge")["source"] = right
    (tmp_path / name).write_bytes(text(book))
    given = [name + a if a.startswith("::") else a for a in arguments]
    result = run(tmp_path, "-p", "cacheprovider", *given)
    assert "lesson             24/24" in result.output


def test_a_solution_compares_its_demonstrations(tmp_path: Path) -> None:
    book = json.loads((ROOT / "solutions" / f"{LESSON_01}.ipynb").read_text(encoding="utf-8"))
    cell(book, "01-naive-grows")["outputs"][0]["text"] = ["something else\n"]
    (tmp_path / f"{LESSON_01}.ipynb").write_bytes(text(book))
    result = run(tmp_path)
    assert "1 failed" in result.output
    assert "24/24" in result.output


def foreign(folder: Path, name: str = "analysis.ipynb", **output: object) -> None:
    printing = nbformat.v4.new_code_cell("print(1)", execution_count=1)
    printing.outputs = [nbformat.v4.new_output("stream", name="stdout", text="1\n")]
    nbformat.write(nbformat.v4.new_notebook(cells=[printing]), folder / name)


def test_other_peoples_notebooks_are_nbvals(tmp_path: Path) -> None:
    foreign(tmp_path)
    result = run(tmp_path, "-v")
    assert result.code == 0
    assert "::Cell 0 PASSED" in result.output
    assert "points" not in result.output


def test_other_peoples_broken_notebooks_are_nbvals(tmp_path: Path) -> None:
    foreign(tmp_path)
    (tmp_path / "broken.ipynb").write_text("")
    result = run(tmp_path)
    assert result.code == 2
    assert "NotJSONError" in result.output or "JSON" in result.output
    assert "points" not in result.output


def test_a_notebook_of_others_among_ours(tmp_path: Path) -> None:
    foreign(tmp_path)
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    result = run(tmp_path, "-v")
    assert result.code == 0
    assert "::Cell 0 PASSED" in result.output
    assert "ex00-last          1/1" in result.output


def test_without_nbval_nothing_happens(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    (tmp_path / "test_one.py").write_text("def test_one(): pass")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout
    assert "points" not in done.stdout


@pytest.mark.parametrize("arguments", [("--junitxml=out.xml",), ("-q", "-x"), ("-k", "graded")])
def test_other_ways_to_call_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    result = run(tmp_path, *arguments)
    assert "points" in result.output
    assert "INTERNALERROR" not in result.output
