"""The command line, run as a person runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ringkv_edu.grading.release import lessons

LESSON = "00_start_here.ipynb"


def ringkv(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ringkv_edu.cli", *arguments],
        cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def course(tmp_path: Path) -> Path:
    assert ringkv("start", "--no-lab", cwd=tmp_path).returncode == 0
    return tmp_path


def answer(path: Path, source: str) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    next(c for c in book["cells"] if c["id"] == "ex00-last")["source"] = source
    path.write_text(json.dumps(book), encoding="utf-8")


def test_importing_costs_nothing(tmp_path: Path) -> None:
    code = "import ringkv_edu, sys; print([m for m in ('torch', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names() -> None:
    import ringkv_edu

    assert all(getattr(ringkv_edu, name) for name in ringkv_edu.__all__)
    with pytest.raises(AttributeError, match="no name 'Ring'; it offers NaiveKVBuffer"):
        ringkv_edu.Ring  # noqa: B018


@pytest.mark.parametrize(
    "command",
    [
        "start",
        "doctor",
        "build",
        "check",
        "status",
        "reset",
        "update",
        "watch",
        "cases",
        "bench",
        "train",
        "model",
        "evaluate",
        "monitor",
        "diagnose",
    ],
)
def test_every_command_explains_itself(tmp_path: Path, command: str) -> None:
    done = ringkv(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert f"example:\n  ringkv {command}" in done.stdout


def test_start_says_what_it_did_and_keeps_work(course: Path) -> None:
    (course / "work" / LESSON).write_text("mine")
    done = ringkv("start", "--no-lab", cwd=course)
    assert done.stdout == f"work: 0 lessons copied, {len(lessons())} left as they were\n"
    assert (course / "work" / LESSON).read_text() == "mine"


def test_check(course: Path) -> None:
    done = ringkv("check", f"work/{LESSON}", cwd=course)
    assert done.returncode == 1
    assert f"work/{LESSON}\n  ex00-last          0/1    not solved yet" in done.stdout
    assert "test session starts" not in done.stdout
    answer(course / "work" / LESSON, "def last(tokens, window):\n    return tokens[-window:]")
    done = ringkv("check", LESSON, cwd=course / "work")
    assert done.returncode == 0
    assert "  lesson             1/1\n" in done.stdout
    assert "  lesson             1/1\n" in ringkv("check", "0", cwd=course).stdout
    ringkv("reset", "1", cwd=course)
    for path in (course / "work").glob("*.ipynb"):
        if path.name > "02":
            path.unlink()  # two lessons are a folder of them as well as twelve
    whole = ringkv("check", "work", cwd=course).stdout
    assert "kept-1" not in whole
    assert "course               1/" in whole


def test_status_reset_and_update(course: Path) -> None:
    answer(course / "work" / LESSON, "def last(tokens, window):\n    return tokens[-window:]")
    lines = ringkv("status", cwd=course).stdout.splitlines()
    assert lines[1].split() == ["00_start_here", "1/1", "1/1", "0"]
    assert lines[2].endswith("no answers yet")
    assert lines[-2].split()[-1].startswith("1/")
    assert "self-check" in lines[-1]
    assert "up to date" in ringkv("update", cwd=course / "work").stdout
    done = ringkv("reset", "0", cwd=course)
    assert "00_start_here.ipynb is fresh; your old one is 00_start_here.kept-1.ipynb" in done.stdout
    assert ringkv("status", cwd=course).stdout.splitlines()[1].endswith("no answers yet")


def test_watch_is_what_the_readme_shows(root: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog"
    done = ringkv("watch", words, "--window", "4", cwd=root)
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert f'ringkv watch "{words}" --window 4' in readme
    assert done.stdout in readme


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "nothing.ipynb"), "nothing.ipynb does not exist: give a notebook"),
        (("status",), "this is no course folder, and there is none in ./work: `ringkv start`"),
        (("update",), "`ringkv start` makes one"),
        (("reset", "77", "--folder", "."), "there is no lesson '77'; there are 00_start_here"),
        (("status", "--folder", "no/such"), "no/such is not a folder"),
        (("check", "README.md"), "README.md does not exist"),
        (("reset", "", "--folder", "."), "there is no lesson ''"),
        (("watch", "a b", "--window", "65"), "a table has room for 64 slots"),
        (("watch", ""), "the text has no words"),
        (("watch", "a b", "--window", "0"), "--window is 0; a token sees at least itself"),
    ],
)
def test_a_wrong_call_says_what_to_do(tmp_path: Path, arguments, words: str) -> None:
    done = ringkv(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_check_of_somebody_elses_notebook(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    done = ringkv("check", "x.ipynb", cwd=tmp_path)
    assert done.returncode == 2
    assert "none of what was given is a notebook of this course" in done.stderr


def test_doctor_finds_this_environment_well(tmp_path: Path) -> None:
    done = ringkv("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "ok       kernel         started in" in done.stdout
    assert "MISSING" not in done.stdout


def test_doctor_says_what_to_do_for_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    from ringkv_edu import doctor

    monkeypatch.setattr(doctor, "LITE", ("no-such-package",))
    finding = next(f for f in doctor.examine() if f.what == "no-such-package")
    assert not finding.well
    assert finding.needed
    assert 'pip install "ringkv-edu[lite]"' in finding.advice
