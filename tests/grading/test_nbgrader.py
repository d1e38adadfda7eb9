"""A course folder for nbgrader: its cells count as ours do, and nbgrader itself agrees."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ringkv_edu.checks import exercise
from ringkv_edu.cohort.collect import collect
from ringkv_edu.cohort.people import Learner
from ringkv_edu.cohort.reports.nbgrader import CONFIG, folders, write_course
from ringkv_edu.cohort.reports.nbgrader_cells import source_book
from ringkv_edu.grading.release import lessons, source_of
from ringkv_edu.grading.sealed.credit import credit, rounded
from ringkv_edu.grading.sealed.marks import printed_by
from ringkv_edu.grading.sealed.oracle import Oracle, ask
from ringkv_edu.grading.sealed.seal import best_seal
from ringkv_edu.grading.sealed.seeds import seeds

from .books import book, entry, result
from .submissions import LESSON_00, LESSON_01, ROOT, WRONG, answered, cell, released, solution, text

REGIONS = {
    "### BEGIN SOLUTION": "### END SOLUTION",
    "### BEGIN HIDDEN TESTS": "### END HIDDEN TESTS",
}
APPEND = """
def append(ring, key, value, position):
    slot = ring.num_writes % len(ring.keys)
    ring.keys[slot], ring.values[slot] = key, value
    return slot
"""


def without_regions(source: str) -> str:
    """Take the marked regions out, as nbgrader does for learners."""
    kept, until = [], ""
    for line in source.split("\n"):
        if until:
            until = "" if line == until else until
        elif line in REGIONS:
            until = REGIONS[line]
        else:
            kept.append(line)
    assert not until
    return "\n".join(kept)


def released_as_oracle(lesson: str) -> Oracle:
    """What the release shows, in the place of an oracle: enough for a look at the text."""
    shown = {c["id"]: printed_by(c["outputs"]) for c in lessons()[lesson].cells("graded")}
    return Oracle(lesson, 4711, shown, {}, dict.fromkeys(shown, ""))


@pytest.mark.parametrize("lesson", list(lessons()))
def test_without_its_marked_regions_a_source_is_the_released_notebook(lesson: str) -> None:
    source = source_book(lesson, solution(lesson), released_as_oracle(lesson))
    want = lessons()[lesson].book
    assert [without_regions(source_of(c)).strip() for c in source["cells"]] == [
        source_of(c).strip() for c in want["cells"]
    ]
    for ours, theirs in zip(source["cells"], want["cells"]):
        assert {k: v for k, v in ours.items() if k != "source"} == {
            k: v for k, v in theirs.items() if k != "source"
        }
    for one in source["cells"]:
        if one["cell_type"] == "code" and "### BEGIN" in source_of(one):
            compile(source_of(one), one["id"], "exec")


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return ask(LESSON_01, ROOT / "solutions" / f"{LESSON_01}.ipynb", seeds("a key", LESSON_01))


def points(oracle: Oracle, name: str, answer: dict[str, Any]) -> float:
    """Run a graded cell of the source as nbgrader would; give the value of its last line."""
    book = source_book(LESSON_01, solution(LESSON_01), oracle)
    names: dict[str, Any] = {}
    for one in book["cells"]:
        if one["metadata"].get("ringkv", {}).get("role") in ("given", "answer"):
            exec(source_of(one), names)
    names |= answer
    body, _, call = source_of(cell(book, f"{name}-graded")).rpartition("_points(\n")
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        exec(body, names)
        earned = eval(f"_points(\n{call.rpartition('### END')[0]}", names)
    assert said.getvalue() == ""
    return float(earned)


def test_every_known_mistake_gets_what_it_gets_in_a_sealed_run(oracle: Oracle) -> None:
    for graded in lessons()[LESSON_01].graded:
        known = (
            printed_by(cell(released(LESSON_01), graded.id)["outputs"]),
            oracle.untouched[graded.id],
        )
        mistakes = oracle.mistakes[graded.exercise]
        assert points(oracle, graded.exercise, {}) == graded.points
        mutants = exercise(graded.exercise).mutants
        for made, mutant in list(zip(mistakes, mutants, strict=True))[:4]:
            printed = made.printed.rpartition("\n!")[0] if "\n!" in made.printed else made.printed
            share = credit(oracle.references[graded.id], printed, known, mistakes).share
            answer = vars(exercise(graded.exercise).answer(mutant.answer))
            assert points(oracle, graded.exercise, answer) == rounded(graded.points, share), (
                made.name
            )


def test_noise_on_stderr_costs_nothing_and_an_endless_loop_can_be_stopped(oracle: Oracle) -> None:
    noisy: dict[str, Any] = {}
    exec(
        "import sys\ndef sees(q, k, w):\n    print('!', file=sys.stderr)\n    return q - w < k <= q",
        noisy,
    )
    assert points(oracle, "ex05-edge", noisy) == 3

    def stopped(*given: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        points(oracle, "ex05-edge", {"sees": stopped})


def test_a_course_folder_holds_what_counted_and_is_graded_again_as_it_is(tmp_path: Path) -> None:
    ann, odd = Learner("ann", "Ann Lee"), Learner("../odd", "Odd")
    data = text(answered(WRONG))
    one = book({
        ann: (result(files=(entry("old", counts=False), entry("new"))),),
        odd: (result(files=(entry("odd"),)), result(LESSON_01, files=(entry("bad", problem="it is broken"),))),
    })  # fmt: skip
    files = {entry(name).digest: data for name in ("new", "odd", "bad")}
    said = write_course(tmp_path, one, files, {LESSON_00: released_as_oracle(LESSON_00)})
    found = sorted(
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()
    )
    place = f"{LESSON_00}/{LESSON_00}.ipynb"
    assert found == [
        CONFIG, f"release/{place}", f"source/{place}", f"submitted/ann/{place}", f"submitted/{folders(one)['../odd']}/{place}",
    ]  # fmt: skip
    assert any("it is broken: /home/teacher/in/bad" in line for line in said)
    assert (tmp_path / "release" / place).read_text(encoding="utf-8") == (
        ROOT / "notebooks" / f"{LESSON_00}.ipynb"
    ).read_text(encoding="utf-8")
    again = collect([tmp_path])
    assert [(each.learner.id, each.data) for each in again] == [
        ("ann", data),
        (folders(one)["../odd"], data),
    ]


def test_a_configuration_that_is_there_is_kept(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text("# mine\n")
    said = write_course(tmp_path, book({}), {}, {})
    assert (tmp_path / CONFIG).read_text() == "# mine\n"
    assert "is kept" in said[-1]


def test_folders_are_ids_wherever_they_can_be() -> None:
    ids = "ann,AB123,李明,a b,Bob,bob,a/b,..,.hid,dot.,-x,con,".split(",")
    names = folders(book({Learner(id): () for id in ids}))
    assert [id for id in ids if names[id] == id] == ["ann", "AB123", "李明", "a b", "bob"]
    assert len({name.casefold() for name in names.values()}) == len(ids)


def nbgrader(course: Path, *arguments: str) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "JUPYTER_"))}
    environment |= {"PYTHONPATH": str(ROOT), "HOME": str(course.parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["nbgrader", *arguments],
        cwd=course,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def scores(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (r["assignment"], r["student_id"]): (float(r["score"]), float(r["max_score"])) for r in rows
    }


@pytest.mark.skipif(
    not shutil.which("nbgrader"), reason="nbgrader is not installed: pip install nbgrader"
)
@pytest.mark.skipif(best_seal().name == "none", reason="nothing here can seal a process")
def test_nbgrader_gives_the_same_points_as_a_sealed_run(tmp_path: Path) -> None:
    """Three learners, one right, one wrong, one who began nothing, in two lessons."""
    half = solution(LESSON_01)
    cell(half, "ex02-append")["source"] = APPEND
    cell(half, "ex05-edge")["source"] = "def sees(q, k, w):\n    return q - w <= k <= q\n"
    cell(half, "ex03-visible")["source"] = "def visible(ring):\n    raise KeyError('no')\n"
    handed = {
        "right": (solution(LESSON_00), solution(LESSON_01)),
        "wrong": (answered(WRONG), half),
        "untouched": (released(LESSON_00), released(LESSON_01)),
    }
    for name, books in handed.items():
        (tmp_path / "in" / name).mkdir(parents=True)
        for lesson, one in zip((LESSON_00, LESSON_01), books):
            (tmp_path / "in" / name / f"{lesson}.ipynb").write_bytes(text(one))
    course, out = tmp_path / "course", tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "ringkv_edu.cli",
        "grade",
        "--lessons",
        "00",
        "01",
        "--key",
        "k",
    ]
    for source, target, more in (
        ("in", out, ["--nbgrader", str(course)]),
        ("course", tmp_path / "again", []),
    ):
        given = [*command, str(tmp_path / source), "--out", str(target), *more]
        done = subprocess.run(given, capture_output=True, encoding="utf-8", timeout=300, cwd=tmp_path,
                              env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
        assert done.returncode == 0, done.stderr
    for lesson in (LESSON_00, LESSON_01):
        nbgrader(course, "generate_assignment", lesson, "--force")
        nbgrader(course, "autograde", lesson)
        nbgrader(course, "generate_feedback", lesson)
        assert (course / "feedback" / "wrong" / lesson / f"{lesson}.html").is_file()
        given_out = json.loads(
            (course / "release" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8")
        )
        want = lessons()[lesson].book["cells"]
        assert [source_of(c).strip() for c in given_out["cells"]] == [
            source_of(c).strip() for c in want
        ]
        assert [c.get("outputs") for c in given_out["cells"]] == [c.get("outputs") for c in want]
    nbgrader(course, "export")
    theirs, ours = scores(course / "grades.csv"), scores(out / "nbgrader.csv")
    assert theirs == ours == scores(tmp_path / "again" / "nbgrader.csv")
    assert ours[LESSON_01, "right"] == (24, 24)
    assert ours[LESSON_01, "untouched"] == (0, 24)
    assert 0 < ours[LESSON_01, "wrong"][0] < 20
    print(ours)
