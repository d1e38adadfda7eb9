"""No cheat earns a point that the honest code would not, in a sealed run.

A wrong answer with a cheat earns no more than the same wrong answer without it. Each cheat is a
folder of one batch, which runs once, with two workers. `course/threat_model.md` says what is not
defended.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from .cheats import (
    CALM,
    CUSTOMIZE,
    FINDS,
    KERNEL,
    LEAVES,
    POWER,
    READING,
    SAYING,
    SOLUTION,
    before,
    instead,
    looking,
)
from .submissions import (
    LESSON_00,
    LESSON_01,
    RIGHT,
    ROOT,
    WRONG,
    Run,
    answered,
    cell,
    released,
    run,
    solution,
    text,
)
from .test_cheats import CHEATS, cheat

NOT_DEFENDED = frozenset(f"ND-{number}" for number in range(1, 15))
NOTEBOOK = f"{LESSON_00}.ipynb"
CANARY = "ringkv-canary"  # what a cheat writes where the grader's own process would
Files = Callable[[Path], None]


def test_what_is_not_defended_is_listed_and_does_not_grow() -> None:
    """An attack that works is mended; a new line on the page must not make a test pass."""
    page = (ROOT / "course" / "threat_model.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. `(ND-\d+)`", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == NOT_DEFENDED
    assert set(re.findall(r"ND-\d+", page)) == NOT_DEFENDED


def wrong() -> bytes:
    return text(answered(WRONG))


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def notebook(make: Callable[[], bytes]) -> Files:
    return lambda folder: write(folder / NOTEBOOK, make())


def named(name: str) -> Files:
    def change(folder: Path) -> None:
        try:
            write(folder / name, wrong())
        except OSError:  # a system without such names
            write(folder / NOTEBOOK, wrong())

    return change


def beside(files: dict[str, str]) -> Files:
    """A wrong answer, and files that pytest would run or read if it found them."""

    def change(folder: Path) -> None:
        write(folder / NOTEBOOK, wrong())
        for name, content in files.items():
            write(folder / name, content)

    return change


def linked(to: Callable[[Path], Path], name: str = NOTEBOOK) -> Files:
    return lambda folder: (folder / name).symlink_to(to(folder))


def loops(folder: Path) -> None:
    """Links that make a folder its own child twice: a walk that follows them never ends."""
    write(folder / NOTEBOOK, wrong())
    for name in ("a", "b"):
        (folder / name).symlink_to(folder)


def odd_files(folder: Path) -> None:
    """Files that end never, or lead nowhere."""
    write(folder / NOTEBOOK, wrong())
    (folder / "nothing.ipynb").symlink_to(folder / "none.ipynb")
    (folder / "device.ipynb").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "folder.ipynb").mkdir()


def deep(folder: Path) -> None:
    write(folder.joinpath(*(["d"] * 900), NOTEBOOK), wrong())


def stranger(folder: Path) -> None:
    """A notebook that is none of the course's: plain nbval would run it without a seal."""
    write(folder / NOTEBOOK, wrong())
    source = (
        f"import os\nopen({str(folder.parent / CANARY)!r}, 'w').close()\nos.kill(os.getppid(), 9)"
    )
    book = {"cells": [{"cell_type": "code", "id": "a1", "metadata": {}, "outputs": [],
                       "execution_count": 1, "source": source}],
            "metadata": {}, "nbformat": 4, "nbformat_minor": 5}  # fmt: skip
    write(folder / "analysis.ipynb", text(book))


def settings(folder: Path) -> None:
    """Settings that would load a plugin, and turn the sealing off."""
    write(folder / NOTEBOOK, wrong())
    lines = "[pytest]\naddopts = --allow-unsealed -p evil\npython_files = *.py\npythonpath = .\n"
    for name in ("pytest.ini", "tox.ini"):
        write(folder / name, lines)
    write(folder / "evil.py", f"open({str(folder.parent / CANARY)!r}, 'w').close()\n")


PLANT = (
    "import pathlib\n"
    f"for folder in pathlib.Path(__file__).parents[1:4]: (folder / {CANARY!r}).touch()\n"
)
HOOK = PLANT + (
    "import pytest\n"
    "@pytest.hookimpl(wrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n"
    "    report = yield\n    report.outcome = 'passed'\n    return report\n"
)
FOLDERS: dict[str, Files] = {
    "conftest": beside({"conftest.py": HOOK}),
    "package": beside({"__init__.py": PLANT}),
    "test-file": beside({"test_it.py": PLANT + "def test_it(): pass\n", "it_test.py": PLANT}),
    "settings": settings,
    "own-package": beside({"ringkv_edu/__init__.py": PLANT, "sitecustomize.py": PLANT,
                           "json.py": PLANT, "numpy/__init__.py": PLANT}),
    "own-course": beside({"course/lessons/x.py": PLANT, f"solutions/{NOTEBOOK}.txt": "",
                          "doctest.txt": ">>> 1\n2\n", "setup.py": PLANT}),
    "stranger": stranger,
    "link-to-the-solution": linked(lambda folder: SOLUTION),
    "link-to-another": linked(lambda folder: folder.parent / "right" / NOTEBOOK),
    "link-through-a-link": linked(lambda folder: folder.parent / "link-to-another" / NOTEBOOK),
    "link-to-a-folder": linked(lambda folder: folder.parent / "right", "more"),
    "link-to-the-course": linked(lambda folder: ROOT / "solutions", "more"),
    "odd-files": odd_files,
    "loops": loops,
    "deep": deep,
    "name-dash": named(f"--allow-unsealed={NOTEBOOK}"),
    "name-brackets": named(f"[x]::{NOTEBOOK}"),
    "name-newline": named(f"00\n= points =\nx\n  lesson  1-1 {NOTEBOOK}"),
    "name-right-to-left": named(f"\u202e{NOTEBOOK}"),
    "name-long": named("0" * 240 + ".ipynb"),
    "name-of-the-solution": named(f"..%2fsolutions%2f{NOTEBOOK}"),
    "name-spaces": named(f" {NOTEBOOK}"),
}  # fmt: skip


def late_rule() -> bytes:
    """Break the rule of one exercise, and let another's cell put the answer in its place."""
    book = solution(LESSON_01)
    right = "".join(cell(book, "ex04-attend")["source"])
    cell(book, "ex04-attend")["source"] = f"from torch import softmax\n{right}"
    hook = (
        "get_ipython().events.register('pre_run_cell', lambda *a: globals().update(attend=again))"
    )
    again = right.replace("def attend", "def again")
    cell(book, "ex03-visible")["source"] = (
        "".join(cell(book, "ex03-visible")["source"]) + f"\n\n{again}\n{hook}\n"
    )
    return text(book)


def given_instead() -> bytes:
    """Call what the lesson gives for later in the place of one's own."""
    book = solution(LESSON_01)
    cell(book, "ex02-append")["source"] = (
        "def append(ring, key, value, position):\n    slot = ring.head\n"
        "    write_at_head(ring, key, value, position)\n    return slot\n"
    )
    return text(book)


def probed(source: str) -> Callable[[], bytes]:
    """Change what `fixed` prints for the numbers of a wrong answer."""

    def make() -> bytes:
        book = released(LESSON_01)
        cell(book, "ex01-bytes")["source"] = f"{source}\n{WRONG_BYTES}"
        return text(book)

    return make


WRONG_BYTES = (
    "def cache_bytes(tokens, layers, kv_heads, head_dim, bytes_per_number):\n    return 1.5\n"
    "def read_floor_ms(weight_bytes, kv_bytes, bytes_per_second):\n    return 1.5\n"
)
PROBE = "import os\nos.environ['RINGKV_ROUNDING_PROBE'] = {!r}\nimport math\nfloat = {}"
IN_01: dict[str, Callable[[], bytes]] = {
    "probe-infinite": probed(PROBE.format("inf", "float")),
    "probe-nan": probed(PROBE.format("nan", "float")),
    "probe-text": probed(PROBE.format("1/1", "float")),
    "number-with-its-own-format": probed(
        "class N(float):\n    __format__ = __str__ = __repr__ = lambda s, *a: '27.30'\n"
        "    __mul__ = __rmul__ = lambda s, o: s\n"
    ),
}
# What the honest rest of the notebook earns, less the exercise that breaks a rule.
RULES = {"late-rule": (late_rule, "ex04-attend", 21), "given-instead": (given_instead, "ex02-append", 21)}  # fmt: skip
ANSWERS = {
    **{name: cheat(change) for name, change in CHEATS.items()},
    **{name: looking(source) for name, source in (READING | POWER).items()},
    **{name: instead(source) if "def last" in source else before(source) for name, source in (SAYING | KERNEL).items()},
    "finds-what-a-friend-left": looking(FINDS),
    "customizes-python": before(CUSTOMIZE),
    "huge-cell": before(f"{CALM}{'#' * 50_000}"),
    "many-magics": before("x = !true\n" * 2_000),
}  # fmt: skip
HONEST = {"right": lambda: text(answered(RIGHT)), "leaves-something": instead(LEAVES)}
ALL = [*ANSWERS, *FOLDERS]


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Run:
    top = tmp_path_factory.mktemp("cheats") / "batch"
    scratch = top.parent / "scratch"
    for folder in (top, scratch):
        folder.mkdir()
    controls = {"wrong": wrong, "found": looking("use(NEEDLE)")}
    for name, make in (HONEST | controls | ANSWERS).items():
        notebook(make)(top / name)
    for name, change in FOLDERS.items():
        (top / name).mkdir(parents=True)
        change(top / name)
    for name, make in IN_01.items():
        write(top / name / f"{LESSON_01}.ipynb", make())
    for name, (make, _, _) in RULES.items():
        write(top / name / f"{LESSON_01}.ipynb", make())
    write(top / "wrong-01" / f"{LESSON_01}.ipynb", probed("")())
    limits = '{"cell_seconds": 6, "grace_seconds": 1}'
    result = run(top, "--ringkv-sealed", "-n", "2", RINGKV_LIMITS=limits,
                 RINGKV_SEALED_KEY="the key of these tests", TMPDIR=str(scratch))  # fmt: skip
    result.left = sorted(os.listdir(scratch)) + [CANARY] * (top / CANARY).exists()
    shutil.rmtree(top, ignore_errors=True)
    return result


def test_there_are_enough() -> None:
    assert len({*ALL, *IN_01, *RULES}) >= 45


@pytest.mark.parametrize("name", ALL)
def test_a_cheat_earns_no_more_than_the_wrong_answer_alone(batch: Run, name: str) -> None:
    assert batch.earned(name) <= batch.earned("wrong"), batch.parts(name)


@pytest.mark.parametrize("name", IN_01)
def test_nor_in_lesson_01(batch: Run, name: str) -> None:
    assert batch.earned(name) <= batch.earned("wrong-01"), batch.parts(name)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_not_got_round_by_another_cell(batch: Run, name: str) -> None:
    _, exercise, rest = RULES[name]
    part = batch.part(name)
    assert re.search(rf"^  {exercise} +0/3 +uses ", part, re.MULTILINE), part
    assert batch.earned(name) == rest


@pytest.mark.parametrize("name", HONEST)
def test_the_honest_are_not_harmed(batch: Run, name: str) -> None:
    assert batch.earned(name) == 1, batch.parts(name)


def test_a_leak_would_show(batch: Run) -> None:
    """A cheat that has found what it looks for earns the point: so the others found nothing."""
    assert batch.earned("found") == 1, batch.parts("found")
    assert 0 < batch.earned("wrong") < 1  # and there is something to gain


@pytest.mark.parametrize("name", [name for name in FOLDERS if name.startswith("link-")])
def test_a_link_is_refused_by_name(batch: Run, name: str) -> None:
    assert "it is a link to " in batch.part(name)
    assert batch.earned(name) == 0


def test_nothing_was_run_but_notebooks(batch: Run) -> None:
    assert CANARY not in batch.left
    assert "it is none of this course's notebooks" in "".join(batch.parts("stranger"))


def test_the_batch_was_graded_whole(batch: Run) -> None:
    assert batch.code == 1
    assert "INTERNALERROR" not in batch.output
    assert "sealed by" in batch.output
    assert "NOT SEALED" not in batch.output


def test_nothing_is_left(batch: Run) -> None:
    """Neither folders nor processes outlive the run."""
    assert [name for name in batch.left if name.startswith("ringkv-")] == []
    ours = [
        p for p in psutil.process_iter(["cmdline"]) if "/run/inside.py" in (p.info["cmdline"] or ())
    ]
    assert [p for p in ours if p.parent() is None or p.parent().pid == 1] == []
