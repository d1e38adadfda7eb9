"""A new learner's way through the lessons, in JupyterLab.

`ringkv start`, the first notebook, a wrong answer that is named, right ones, saving, points.
Screenshots go to the folder that RINGKV_SCREENSHOTS names, if it is set.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ringkv_edu.checks import exercises
from ringkv_edu.grading.release import lessons, source_of

from .lab import Lab, browser, started_course

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
LESSON_01 = "01_plain_python_ring"
SHOWS = {
    "own-model": "The same tokens: a model decodes with your ring.",
    "07-own-sinks": "The same tokens: the model decodes with your ring.",
}
SHORT = """class MyRing(RingFields):
    def append(self, key, value, position):
        slot = position % (self.window_size - 1)
        self.keys[slot], self.positions[slot] = key, position


show(MyRing, tokens=10, window_size=4)"""
WRONG = {
    "ex00-last": ("def last(tokens, window):\n    return tokens[len(tokens) - window:]",
                  "goes below 0 while the list is still short"),
    "ex02-append": ("def append(ring, key, value, position):\n    while True:\n        pass",
                    "a loop that never ends"),
    "ex03-visible": ("def visible(ring):\n    return [Entry(ring.keys[s], ring.values[s], "
                     "ring.positions[s], ring.insert_count[s], s) for s in range(ring.window_size) "
                     "if ring.positions[s] >= 0]", "the order of slots is given as the order of time"),
    "ex05-edge": ("def sees(query_position, key_position, window):\n"
                  "    return 0 <= query_position - key_position <= window",
                  "the window is one too wide, as if written t - W"),
    "ex07-distance": ("def distances(positions):\n    newest = positions.index(max(positions))\n"
                      "    return [None if p < 0 else newest - s for s, p in enumerate(positions)]",
                      "the slot is used as the position"),
    "np5-mask": ("def attend_seen(q, keys, values, positions, query_position, window):\n"
                 "    weights = np.exp(keys @ q / np.sqrt(len(q)))\n"
                 "    return weights @ values / weights.sum()", "no mask"),
    "np6-groups": ("def attend_groups(q, keys, values, mask):\n"
                   "    keys, values = (np.concatenate([x] * (len(q) // len(x))) for x in (keys, values))\n"
                   "    scores = np.einsum('hd,hsd->hs', q, keys) / np.sqrt(q.shape[1])\n"
                   "    weights = np.where(mask, np.exp(scores - scores.max()), 0)\n"
                   "    return np.einsum('hs,hsd->hd', weights, values) / weights.sum(1)[:, None]",
                   "h % kv_heads"),
    "chunk3-step": ("def step(ring, q, k, v):\n"
                    "    new = np.arange(ring.seen, ring.seen + k.shape[1])\n"
                    "    place(ring, k, v)\n"
                    "    return attend_at(new, q, ring.positions, ring.keys, ring.values,\n"
                    "                     ring.window, ring.sinks)",
                    "the chunk is written before it attends"),
    "chunk4-rewind": ("def rewind(ring, n):\n    ring.seen -= n\n"
                      "    gone = ring.positions >= ring.seen\n    ring.positions[gone] = -1\n"
                      "    ring.keys[:, gone] = ring.values[:, gone] = 0", "nothing is ever refused"),
    "tr1-write": ("def write_rows(rows, k, v):\n    slot = rows.seen[:1] % rows.window\n"
                  "    rows.keys.index_copy_(2, slot, k[:, :, None])\n"
                  "    rows.values.index_copy_(2, slot, v[:, :, None])\n"
                  "    rows.positions.index_copy_(1, slot, rows.seen[:, None])\n    rows.seen += 1",
                  "row 0's cursor serves every row"),
    "tr5-leak": ("def packed_mask(sequence, positions, window):\n"
                 "    distance = positions[:, None] - positions[None, :]\n"
                 "    return (distance >= 0) & (distance < window)", "sequence"),
    "ps5-log-n": ("def attend_summaries(q, keys, values, summary_keys, summary_values, counts):\n"
                  "    full = counts > 0\n"
                  "    blurred = summary_keys[full] @ q + np.log(counts[full])\n"
                  "    scores = np.concatenate([keys @ q, blurred]) / np.sqrt(len(q))\n"
                  "    weights = np.exp(scores - scores.max())\n"
                  "    both = np.concatenate([values, summary_values[full]])\n"
                  "    return weights / weights.sum() @ both", "log n is added before scaling"),
    "rope4-write": ("def write(ring, k, v):\n    slot = ring.seen % ring.window\n"
                    "    ring.keys[:, slot] = turned(k, slot)\n    ring.values[:, slot] = v\n"
                    "    ring.positions[slot] = ring.seen\n    ring.seen += 1\n\n\n"
        "def read(ring, q):\n    query = turned(q, ring.seen - 1)\n"
        "    found = (ring.keys * query[:, None]).sum(axis=2) / np.sqrt(q.shape[1])\n"
        "    return np.where(ring.positions >= 0, found, -np.inf)",
                    "the key is turned to its slot"),
    "bg3-floor": ("def step_seconds(weights, token, window, lengths, bandwidth):\n"
                  "    read = sum(n if window is None else min(n, window) for n in lengths)\n"
                  "    return (weights * len(lengths) + token * read) / bandwidth\n\n\n"
        "def tokens_a_second(weights, token, window, lengths, bandwidth):\n"
        "    return len(lengths) / step_seconds(weights, token, window, lengths, bandwidth)",
                  "one reading serves the whole batch"),
    "by1-pages": ("def pages_needed(window, size):\n    return -(-(window - 1) // size) + 1\n\n\n"
        "def leaving(table, position, window, size):\n"
        "    return [block for block in table if block * size < position - window + 1]",
                  "a page goes back when its first token leaves"),
    "cf2-start": ("def catches_start(Cache):\n    for window in range(1, 7):\n"
                  "        cache = Cache(window)\n        for n in range(20):\n"
                  "            cache.write(n)\n            last = range(max(0, n - window + 1), n + 1)\n"
                  "            assert list(cache.read()) == list(last)\n\n\n"
        "MendedStart = RollingStart", "the class is as it was reported"),
    "du2-score": ("def keep_by_score(memory, recent):\n    while memory.used > memory.budget:\n"
                  "        memory.drop(min(memory.entries, key=lambda entry: entry.mass))",
                  "the newest tokens are weighed like the others"),
}  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Lab, str]]:
    folder = tmp_path_factory.mktemp("course")
    with started_course(folder) as address, browser() as page:
        yield folder / "work", Lab(page), address


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


def points(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ringkv_edu.cli", "check", str(path)],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return done.stdout


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


def test_start_opens_the_first_lesson(course) -> None:
    _, lab, address = course
    lab.open(address)
    assert lab.title == "00_start_here.ipynb"
    shot(lab, "start")
    lab.cell("00-cliff")
    shot(lab, "cliff")


def test_the_first_lesson(course) -> None:
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


def test_a_graded_cell_cannot_be_edited(course) -> None:
    _, lab, _ = course
    before = lab.cell("ex00-last-graded").locator(".cm-content").inner_text()
    lab.write("ex00-last-graded", "print('mine')")
    assert lab.cell("ex00-last-graded").locator(".cm-content").inner_text() == before


def test_the_plain_python_ring(course) -> None:
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


@pytest.mark.parametrize("lesson", [name for name in lessons() if name > LESSON_01])
def test_every_cell_of_a_later_lesson(course, lesson: str) -> None:
    """From top to bottom: wrong answers are named, right ones pass, scenes run,
    graded cells print the reference, and what is saved holds the answers."""
    folder, lab, address = course
    lab.open(address.replace("00_start_here", lesson))
    answers = solutions(lesson)
    for cell in lessons()[lesson].book["cells"]:
        role, name = cell["metadata"].get("ringkv", {}).get("role"), cell["id"]
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


def test_kept_work_can_be_imported(course) -> None:
    folder, _, _ = course
    code = "from my_ringkv import MyRing; r = MyRing(2); r.append([1], [2], 7); print(r.visible())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "position=7" in done.stdout
