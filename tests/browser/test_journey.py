"""A new learner's way into the course, in JupyterLab.

`ringkv start`, the first notebooks, a wrong answer that is named, right ones, saving, points.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ringkv_edu.grading.release import lessons, source_of

from .journey import Course, shot, solutions, solve, watch_it_turn

pytestmark = pytest.mark.browser
LESSON_01 = "01_plain_python_ring"
SHORT = """class MyRing(RingFields):
    def append(self, key, value, position):
        slot = position % (self.window_size - 1)
        self.keys[slot], self.positions[slot] = key, position


show(MyRing, tokens=10, window_size=4)"""


def points(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ringkv_edu.cli", "check", str(path)],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return done.stdout


def test_start_opens_the_first_lesson(course: Course) -> None:
    _, lab, address = course
    lab.open(address)
    assert lab.title == "00_start_here.ipynb"
    shot(lab, "start")
    lab.cell("00-cliff")
    shot(lab, "cliff")


def test_the_first_lesson(course: Course) -> None:
    folder, lab, _ = course
    lab.run("00-setup")
    assert "`last` is not defined" in lab.run("ex00-last-check")
    lab.run("ex00-last")
    assert "`last` is not written yet" in lab.run("ex00-last-check")
    shot(lab, "not-written")
    lab.run("00-ring-live")
    watch_it_turn(lab, "00-ring-live")
    shot(lab, "ring-live")
    solve(lab, "00_start_here")
    assert "window 4 ->" in lab.run("ex00-last-graded")
    lab.save()
    assert "lesson             1/1" in points(folder / "00_start_here.ipynb")


def test_a_graded_cell_cannot_be_edited(course: Course) -> None:
    _, lab, _ = course
    before = lab.cell("ex00-last-graded").locator(".cm-content").inner_text()
    lab.write("ex00-last-graded", "print('mine')")
    assert lab.cell("ex00-last-graded").locator(".cm-content").inner_text() == before


def test_the_plain_python_ring(course: Course) -> None:
    folder, lab, address = course
    lab.open(address.replace("00_start_here", LESSON_01))
    lab.run("01-setup")
    assert "5 be" in lab.run("01-naive-grows")
    lab.cell("01-ring-picture")
    shot(lab, "ring-picture")
    solve(lab, LESSON_01)
    lab.run("01-predict01-run")
    watch_it_turn(lab, "01-predict01-run")
    shot(lab, "predict-in-the-figure")
    assert "8       9       6      >7" not in lab.run("01-my-ring")
    assert "   9  8      >9       6       7       5" in lab.run("01-my-ring")
    watch_it_turn(lab, "01-my-ring")
    shot(lab, "my-ring")
    lab.write("01-my-ring", SHORT)  # a mistake in the class is seen in the figure
    lab.run("01-my-ring")
    figure = lab.cell("01-my-ring").locator(".ringkv").last
    figure.locator(".bad").wait_for()
    assert "should still be seen and lies in no slot" in figure.locator(".bad").inner_text()
    shot(lab, "my-ring-wrong")
    scenes = lessons()[LESSON_01].cells("scene")
    lab.write("01-my-ring", next(source_of(c) for c in scenes if c["id"] == "01-my-ring"))
    lab.run("01-my-ring")
    assert "Saved in my_ringkv.py" in lab.run("01-save")
    lab.save()
    assert "lesson             24/24" in points(folder / f"{LESSON_01}.ipynb")
    record = json.loads((folder / ".ringkv" / "progress.json").read_text())
    assert set(record["solved"]) == {*solutions("00_start_here"), *solutions(LESSON_01)}


def test_kept_work_can_be_imported(course: Course) -> None:
    folder, _, _ = course
    code = "from my_ringkv import MyRing; r = MyRing(2); r.append([1], [2], 7); print(r.visible())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "position=7" in done.stdout
