"""What a learner does in a lesson, step by step.

Screenshots go to the folder that RINGKV_SCREENSHOTS names, if it is set.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from ringkv_edu.checks import exercises
from ringkv_edu.grading.release import lessons, role_of

from .lab import Lab
from .wrong_answers import WRONG

ROOT = Path(__file__).resolve().parents[2]
SHOWS = {
    "own-model": "The same tokens: a model decodes with your ring.",
    "07-own-sinks": "The same tokens: the model decodes with your ring.",
}


class Course(NamedTuple):
    """A learner's folder, the notebook in front, and the address of the first lesson."""

    folder: Path
    lab: Lab
    address: str


def shot(lab: Lab, name: str) -> None:
    if "RINGKV_SCREENSHOTS" in os.environ:
        lab.page.screenshot(path=Path(os.environ["RINGKV_SCREENSHOTS"], f"{name}.png"))


def answers_in(path: Path) -> dict[str, str]:
    book = json.loads(path.read_text(encoding="utf-8"))
    return {c["id"]: "".join(c["source"]) for c in book["cells"] if c["id"] in exercises()}


def solutions(lesson: str) -> dict[str, str]:
    return answers_in(ROOT / "solutions" / f"{lesson}.ipynb")


def reference(cell: dict[str, Any]) -> str:
    return "".join("".join(output["text"]) for output in cell["outputs"])


def solve(lab: Lab, lesson: str) -> None:
    for name, right in solutions(lesson).items():
        solve_one(lab, name, right)


def solve_one(lab: Lab, name: str, right: str) -> None:
    if name in WRONG:
        wrong, words = WRONG[name]
        lab.write(name, wrong)
        lab.run(name)
        assert words in lab.run(f"{name}-check")
        shot(lab, f"{name}-wrong")
    lab.write(name, right)
    lab.run(name)
    assert f"{name}: right" in lab.run(f"{name}-check")
    shot(lab, f"{name}-right")


def watch_it_turn(lab: Lab, name: str) -> None:
    """Step the theatre below a cell back and on, and see what it says change."""
    figure = lab.cell(name).locator(".ringkv").last
    figure.locator(".fig[data-t]").wait_for()
    assert not figure.locator(".bad").count() or name == "04-wrong-angles"
    said = figure.locator(".say").inner_text()
    if figure.locator(".on").is_disabled():  # it asks first: whatever the answer, it goes on
        asked = figure.locator(".answer, .lanes [role=button]")
        asked.first.click()
        assert "1 right, 0 wrong" in (told := figure.inner_text()) or "0 right, 1 wrong" in told
        assert figure.locator(".say").inner_text() != said
        return
    figure.locator(".back").click()
    assert figure.locator(".say").inner_text() != said
    figure.locator(".on").click()
    assert figure.locator(".say").inner_text() == said


def walk(course: Course, lesson: str) -> None:
    """From top to bottom: wrong answers are named, right ones pass, scenes run,
    graded cells print the reference, and what is saved holds the answers."""
    folder, lab, address = course
    lab.open(address.replace("00_start_here", lesson))
    answers = solutions(lesson)
    for cell in lessons()[lesson].book["cells"]:
        role, name = role_of(cell), cell["id"]
        if cell["cell_type"] == "markdown":
            lab.cell(name)
            if "attachment:" in "".join(cell["source"]):
                shot(lab, name)
        elif role == "answer":
            solve_one(lab, name, answers[name])
        elif role != "check":
            seen = lab.run(name)
            assert "Traceback" not in seen, name
            assert SHOWS.get(name, "") in seen, name
            assert role != "graded" or seen == reference(cell), name
            if "\nshow(" in "\n" + "".join(cell["source"]):
                watch_it_turn(lab, name)
            shot(lab, name)
    lab.save()
    assert answers_in(folder / f"{lesson}.ipynb") == answers
