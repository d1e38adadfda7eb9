"""The teaching plans add up to their minutes, and name exercises and mistakes that there are."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from ringkv_edu.kit import plans
from ringkv_edu.kit.plans import PLANS, Item, Plan, fill, minutes_of, table_of, tasks
from ringkv_edu.kit.stuck import STUCK

ID, HEADER = re.compile(r'id="([\w-]+)-why"'), re.compile(r"\*Difficulty \d of 5 · (\d+) minutes?")


def page(root: Path) -> str:
    return (root / "course/teaching_plans.md").read_text(encoding="utf-8")


def headers(root: Path) -> dict[str, int]:
    text = "\n".join(p.read_text("utf-8") for p in sorted((root / "course/lessons").glob("*.py")))
    cells = [(ID.search(cell), HEADER.search(cell)) for cell in text.split("\n# %%")]
    return {name[1]: int(minutes[1]) for name, minutes in cells if name and minutes}


def test_the_page_is_filled_in(root: Path) -> None:
    text = page(root)
    again = "run: python -m ringkv_edu.kit.plans course/teaching_plans.md"
    assert fill(text) == text, again
    assert re.findall(r"<!-- table ([\w ]+) -->", text) == [*PLANS, "stuck"]


def test_minutes_are_those_of_the_headers(root: Path) -> None:
    stated = headers(root)
    assert set(stated) == set(tasks())
    for name, task in tasks().items():
        assert task.minutes == stated[name], name


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_adds_up(name: str, root: Path) -> None:
    text = page(root).partition(f"<!-- table {name} -->")[2].partition("<!-- end -->")[0]
    rows = re.findall(r"^\| (\d+) \| (\d*) \| (.+?) \| (.*?) \|$", text, re.MULTILINE)
    clock = 0
    for at, minutes, what, names in rows[:-1]:
        assert int(at) == clock, what
        own = sum(int(each) for each in re.findall(r"\((\d+)\)", names))
        assert own <= int(minutes), what
        if what == "at the keyboard":
            assert own == int(minutes)
        clock += int(minutes)
    assert clock == int(rows[-1][0]) == PLANS[name].minutes
    assert int(rows[-2][1]) >= 0.03 * PLANS[name].minutes  # something is left open


def test_the_two_days_go_through_the_core() -> None:
    items = [item for name, plan in PLANS.items() if "two days" in name for item in plan.items]
    assert [n for item in items for n in item.lessons] == ["00", "01", "02", "03", "04", "05"]
    assert {tasks()[n].lesson for item in items for n in item.exercises} == {"07"}


def test_a_plan_that_is_too_full_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    full = {"short": Plan(5, (Item("one exercise", 1, ("ex02-append",)),))}
    monkeypatch.setattr(plans, "PLANS", full)
    minutes = minutes_of(full["short"].items[0])
    with pytest.raises(ValueError, match=f"short has 5 minutes; its items take {minutes}"):
        table_of("short")


def test_mistakes_are_those_that_the_checks_know(root: Path) -> None:
    known = {}
    for path in sorted((root / "course/lessons").glob("*.py")):
        module = import_module(f"ringkv_edu.checks.lesson_{path.stem[:2]}")
        known |= {exercise.id: exercise for exercise in module.EXERCISES}
    assert len({name for name, *_ in STUCK}) == len(STUCK) >= 30
    text = page(root)
    for name, mistakes, words in STUCK:
        names = {mutant.name: mutant.sentence for mutant in known[name].mutants}
        assert words.endswith((".", "?"))
        for mistake in mistakes:
            begins = re.split(r"\. |: ", names[mistake])[0].rstrip(".")
            assert f"`{mistake}`: {begins}".replace("|", "\\|") in text
    taught = {tasks()[name].lesson for name, *_ in STUCK}
    assert taught >= {"01", "02", "03", "04", "05", "06", "07"}


def test_exercises_named_in_the_text_exist(root: Path) -> None:
    text = re.sub(r"<!-- table.*?<!-- end -->", "", page(root), flags=re.DOTALL)
    named = re.findall(r"`([a-z]+\d+-[\w-]+)`", text)
    assert named
    assert set(named) <= set(tasks())
