"""A class is graded: the known points come out, twice the same, interrupted or not, on a cluster too.

``RINGKV_DEEP=1`` grades 200 notebooks of all lessons in place of a few of the first two.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ringkv_edu.cohort.batch import Batch, Store, check_fresh, grade
from ringkv_edu.cohort.collect import collect
from ringkv_edu.cohort.job import steady
from ringkv_edu.cohort.people import Learner, Roster
from ringkv_edu.grading.release import lessons
from ringkv_edu.grading.sealed.oracle import ask
from ringkv_edu.grading.sealed.seal import best_seal
from ringkv_edu.grading.sealed.seeds import seeds
from ringkv_edu.problem import Problem

from .cohort import Member, faults, hand_in, members
from .submissions import LESSON_00, LESSON_01, RIGHT, ROOT, WRONG, answered, text

DEEP = bool(os.environ.get("RINGKV_DEEP"))
MANY = 200 if DEEP else 8
LESSONS = list(lessons()) if DEEP else list(lessons())[:2]
KEY = "a key for the tests"
SECONDS = 3600 if DEEP else 300

pytestmark = pytest.mark.skipif(
    best_seal().name == "none", reason="nothing here can seal a process"
)


@dataclass
class Class:
    """A class, where it handed in, and what grading it gave."""

    folder: Path
    members: list[Member]
    grades: bytes = b""
    seconds: float = 0

    def command(self, out: str, *more: str) -> list[str]:
        base = [sys.executable, "-m", "ringkv_edu.cli", "grade", str(self.folder / "in")]
        return [*base, "--out", str(self.folder / out), "--key", KEY, "--jobs", "2", *more]

    def run(self, out: str, *more: str) -> bytes:
        done = subprocess.run(
            self.command(out, *more), cwd=self.folder, env=plain(), capture_output=True,
            encoding="utf-8", timeout=SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return (self.folder / out / "grades.json").read_bytes()


def plain() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Class:
    oracles = {name: ask(name, ROOT / "solutions" / f"{name}.ipynb", seeds(KEY, name))
               for name in LESSONS}  # fmt: skip
    some = list(members(oracles, MANY))
    folder = tmp_path_factory.mktemp("class")
    hand_in(folder / "in", some)
    found = Class(folder, some)
    begun = time.monotonic()
    found.grades = found.run("first")
    found.seconds = time.monotonic() - begun
    print(f"{MANY} notebooks in {found.seconds:.0f} s")
    return found


def test_no_grade_is_wrong(cohort: Class) -> None:
    assert faults(json.loads(cohort.grades), cohort.members) == []


def test_killed_half_way_and_resumed_it_gives_the_same_file(cohort: Class) -> None:
    running = subprocess.Popen(
        cohort.command("killed"), cwd=cohort.folder, env=plain(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    graded = cohort.folder / "killed" / "graded"
    until = time.monotonic() + SECONDS
    while len(list(graded.glob("*.json"))) < MANY // 3 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in graded.glob("*.json")}
    assert 0 < len(kept) < MANY
    assert not (cohort.folder / "killed" / "grades.json").exists()
    assert cohort.run("killed", "--resume") == cohort.grades
    assert {name: (graded / name).stat().st_mtime_ns for name in kept} == kept


def test_a_cluster_gives_the_same_file(cohort: Class) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra `cluster`")
    assert cohort.run("cluster", "--scheduler", "local") == cohort.grades


def test_an_interrupt_stops_the_graders_and_keeps_what_is_there(cohort: Class) -> None:
    running = subprocess.Popen(
        cohort.command("stopped"), cwd=cohort.folder, env=plain(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
        # tests that were started in the background hand on that interrupts are ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    graded = cohort.folder / "stopped" / "graded"
    until = time.monotonic() + SECONDS
    while not list(graded.glob("*.json")) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 2
    assert "stopped" in said
    assert list(graded.glob("*.json"))


# With results made up, no kernel is needed to see who gets what.


@pytest.fixture
def few(tmp_path: Path) -> Path:
    (tmp_path / "in" / "ann").mkdir(parents=True)
    (tmp_path / "in" / "ann" / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    return tmp_path


def made_up(job: Any) -> dict[str, Any]:
    row = {"cell": "ex00-last-graded", "earned": 1, "cause": "", "right": 8, "lines": 8}
    return {"problem": "", "rows": [row | {"mistake": "", "sentence": "", "worth": 1}]}


def graded(folder: Path, run: Any = made_up, **more: Any) -> dict[str, Any]:
    handed = collect([folder / "in"], more.get("roster"))
    batch = Batch(handed, best_seal(), KEY, **more)
    return grade(batch, Store(folder / "graded"), 2, run).to_dict()


def test_a_resubmission_supersedes_and_the_older_one_is_kept(few: Path) -> None:
    old, new = few / "in" / "ann" / f"{LESSON_00}.ipynb", few / "in" / "ann" / "again.ipynb"
    new.write_bytes(text(answered(WRONG)))
    os.utime(old, (1_000_000_000, 1_000_000_000))
    seen = []
    (ann,) = graded(few, lambda job: seen.append(job.data) or made_up(job))["learners"]
    assert seen == [new.read_bytes()]
    assert [file["counts"] for file in ann["results"][0]["files"]] == [False, True]


def test_lessons_that_nobody_handed_in_are_not_graded_unless_asked_for(few: Path) -> None:
    assert [one["name"] for one in graded(few)["lessons"]] == [LESSON_00]
    (ann,) = graded(few, lessons=(LESSON_00, LESSON_01))["learners"]
    assert (ann["earned"], ann["worth"]) == (1, 1 + lessons()[LESSON_01].points)


def test_a_file_that_is_none_of_ours_is_a_stray(few: Path) -> None:
    (few / "in" / "ann" / "diary.ipynb").write_text('{"cells": [], "nbformat": 4}')
    (ann,) = graded(few)["learners"]
    assert "none of this course's" in ann["strays"][0]["problem"]
    assert ann["earned"] == 1


def test_the_roster_names_who_is_silent_and_who_is_unknown(few: Path) -> None:
    roster = Roster((Learner("s2", "Bob"),))
    found = graded(few, roster=roster)
    assert found["unknown"] == ["ann"]
    assert [(one["id"], one["earned"]) for one in found["learners"]] == [("ann", 1), ("s2", 0)]


def test_a_grader_that_dies_is_a_result_and_stops_no_other(few: Path) -> None:
    shutil.copytree(few / "in" / "ann", few / "in" / "bob")
    died = {"problem": "the grader ended with -9: ", "rows": []}
    found = graded(few, lambda job: died if job.learner == "ann" else made_up(job))
    ann, bob = found["learners"]
    assert (ann["earned"], ann["results"][0]["problem"]) == (0, died["problem"])
    assert bob["earned"] == 1


def test_seeds_for_each_learner_or_file(few: Path) -> None:
    shutil.copytree(few / "in" / "ann", few / "in" / "bob")
    (few / "in" / "carl").mkdir()
    (few / "in" / "carl" / f"{LESSON_00}.ipynb").write_bytes(text(answered(WRONG)))

    def drawn(kind: str) -> list[int]:
        learners = graded(few, kind=kind)["learners"]
        return [one["results"][0]["seed"] for one in learners]

    ann, bob, carl = drawn("run")
    assert ann == bob == carl
    ann, bob, carl = drawn("learner")
    assert len({ann, bob, carl}) == 3
    ann, bob, carl = drawn("submission")
    assert ann == bob != carl
    assert drawn("learner") == drawn("learner")


def test_hints_are_shown_as_the_notebook_has_them(few: Path) -> None:
    book = answered(RIGHT)
    for each in book["cells"]:
        if each["id"] == "ex00-last-check":
            each["source"] = 'check("ex00-last")\nhint("ex00-last", 2)\n# hint("ex00-last", 3)\n'
    (few / "in" / "ann" / f"{LESSON_00}.ipynb").write_bytes(text(book))
    (ann,) = graded(few)["learners"]
    assert ann["results"][0]["hints"] == {"ex00-last": 2}


def test_results_of_another_run_are_not_added_to(few: Path) -> None:
    graded(few)
    store = Store(few / "graded")
    with pytest.raises(Problem, match="--resume"):
        check_fresh(store, resume=False)
    check_fresh(store, resume=True)


def test_a_half_written_result_is_made_again(few: Path) -> None:
    graded(few)
    (file,) = (few / "graded").glob("*.json")
    file.write_text('{"problem": ', encoding="utf-8")
    asked = []
    graded(few, lambda job: asked.append(job) or made_up(job))
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<object at 0x7f3a9c0d1e20>", "<object at 0x…>"),
        ("ringkv-ab12cd/notebook", "…/notebook"),
        ("/tmp/ipykernel_123/45.py and /tmp/tmpx1_y", "…/45.py and …"),
        ("line 3: 0xff of tmpfs in ringkv", "line 3: 0xff of tmpfs in ringkv"),
    ],
)
def test_a_result_holds_nothing_that_differs_from_run_to_run(said: str, kept: str) -> None:
    assert steady(said) == kept
