"""What lesson 10 says in prose and tables, computed again; its toys, its versions, its tests."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from ringkv_edu import given_cases, given_versions, scenes_10
from ringkv_edu.build.source import read_lesson, solved, stub
from ringkv_edu.cases import CASES
from ringkv_edu.cases.torch_row import TorchRow
from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_10 import EXERCISES
from ringkv_edu.checks.lesson_10_predict import kept_by_slice, rows_of_columns
from ringkv_edu.figures.case_files import seen_by_case
from ringkv_edu.given_versions.drawn import CASES as DRAWN
from ringkv_edu.grading import HIDDEN
from ringkv_edu.grading.sealed.view import modules
from ringkv_edu.numpy_ring import NumpyRing
from ringkv_edu.paged import PagedSequence, PagePool
from ringkv_edu.pure import RingKVBuffer
from ringkv_edu.torch_ring import TorchRing
from ringkv_edu.visibility import visibility_mask

ROOT = Path(__file__).resolve().parents[1]
PATH = ROOT / "course/lessons/10_case_files.py"
TEXT = PATH.read_text(encoding="utf-8")
PROSE = " ".join(TEXT.replace("\n#", " ").split())
CELLS = {cell.id: cell for cell in read_lesson(PATH).cells}
TOYS = {
    "window": "TwoWindows", "start": "RollingStart", "keys": "LastKeys", "half": "HalfWindow",
    "flag": "TextFlag", "pads": "PaddedRing", "keep": "LostKeep", "pool": "Pool",
}  # fmt: skip
NAMES = list(TOYS)
BY_NAME = dict(zip(NAMES, EXERCISES[:8]))
TESTS = {name: BY_NAME[name].reference[f"catches_{name}"] for name in NAMES}
TRY = given_versions.tried
LONGEST = "not yet. Case 20 of 20: "


def toy(name: str) -> Any:
    return getattr(given_cases, TOYS[name])


def solution(name: str, make: Any = solved) -> dict[str, Any]:
    exercise = BY_NAME[name].id
    names: dict[str, Any] = {}
    exec(CELLS["10-setup"].source, names)
    exec(make(CELLS[exercise].source), names)
    return names


# the toys show what the tables say


def test_two_windows() -> None:
    assert list(BY_NAME) == [e.id.partition("-")[2] for e in EXERCISES[:8]]
    chunk = given_versions.fed(toy("window")(4), [6])
    alone = given_versions.fed(toy("window")(4), [1] * 6)
    for query in (3, 4, 5):
        row = f"| {query} | {spaced(chunk[query])} | {spaced(alone[query])} |"
        assert f"# {row}" in TEXT


def spaced(tokens: Any) -> str:
    return " ".join("." if token is None else str(token) for token in tokens)


def test_where_the_ring_begins() -> None:
    cache = toy("start")(4)
    for last in range(4):
        cache.write(last)
        held = spaced(range(last + 1))
        assert f"# | {held} | {held} | {spaced(cache.read())} |" in TEXT


def test_keys_that_were_cut() -> None:
    values = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    right = [np.mean(values[max(0, p - 3) : p + 1]) for p in range(6)]
    means = toy("keys")(4).step(values)
    assert f"| must give | {' | '.join(f'{mean:.0f}' for mean in right)} |" in TEXT
    said = ["NaN" if np.isnan(mean) else f"{mean:.0f}" for mean in means]
    assert f"| gives | {' | '.join(said)} |" in TEXT
    assert (
        "Row 3 of the table shows the quieter half of the bug: 35 is a number, and wrong" in PROSE
    )
    assert (means[3], right[3]) == (35, 25)


def test_the_window_that_closes() -> None:
    cache = toy("half")(4)
    for query in range(12):
        cache.append(query)
        seen = [key for key, sees in zip(cache.held(), cache.mask()) if sees]
        named = "7 and all later" if query == 7 else str(query)
        if 3 <= query <= 7:
            assert f"# | {named} | {spaced(cache.held())} | {spaced(seen) or 'nothing'} |" in TEXT
        assert len(seen) == max(0, min(query + 1, 4, 7 - query))


def test_the_text_false() -> None:
    for length, saved in ((0, "nothing"), (2, "0 1"), (4, "0 1 2 3")):
        cache = toy("flag")(4)
        cache.step(range(length))
        row = toy("flag").load(cache.save()).step([length])[0]
        shown = sorted(row, key=lambda token: (token is None, token))
        should = spaced(range(max(0, length - 3), length + 1))
        assert f"# | {saved} | {should} | {spaced(shown)} |" in TEXT
    assert bool("False") is True


def test_padding_in_the_ring() -> None:
    cache = toy("pads")(4, 2)
    cache.step([["a", "b", "c", None, None, None], [None, None, None, "e", "f", "g"]])
    slots = [spaced(row) for row in cache.slots]
    after = [sorted(seen[0]) for seen in cache.step([["d"], ["h"]])]
    assert f"| `a b c . . .` | {slots[0]} | {spaced(after[0])}; should be a b c d |" in TEXT
    assert f"| `. . . e f g` | {slots[1]} | {spaced(after[1])} |" in TEXT


def test_kept_until_someone_joins() -> None:
    def after(made: Any, length: int, new: int) -> list[str]:
        cache = made(4, 2)
        cache.step(range(length))
        return [
            spaced(row) for row in made.extract(made.merge([cache]), 0).step(range(length, new))
        ]

    mended = BY_NAME["keep"].reference["MendedKeep"]
    assert f"| 0 1 2 | {', then '.join(after(toy('keep'), 3, 5))} |" in TEXT
    assert f"| {', then '.join(after(mended, 3, 5))} |" in TEXT
    assert f"| 0 to 9 | {after(toy('keep'), 10, 11)[0]} | {after(mended, 10, 11)[0]} |" in TEXT


def test_no_slot_is_free() -> None:
    pool = toy("pool")(4, 10)
    pool.step({"a": list("uvwxyz")})
    with pytest.raises(RuntimeError, match="no slot is free"):
        pool.step({"b": list("uvwxyz")})
    mended = BY_NAME["pool"].reference["MendedPool"](4, 10)
    for name in "ab":
        mended.step({name: list("uvwxyz")})
    assert "| a takes 6 | 6 | | 6 |" in TEXT
    assert "| b takes 6 | 6, could be 4 | | 12, could be 10: refused |" in TEXT


def test_the_picture_shows_the_toys() -> None:
    right = visibility_mask(range(10), range(10), 4)
    wrong = {name: mask != right for name, mask in seen_by_case().items()}
    assert [int(mask.sum()) for mask in wrong.values()] == [6, 4, 24, 18]


# the tests refuse and accept what they should


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_refuses_the_toy_and_takes_the_mend(name: str) -> None:
    names = solution(name)
    for test in (TESTS[name], names[f"catches_{name}"]):
        assert TRY(test, toy(name)) == "refused"
        for exercise in (BY_NAME[name].reference, names):
            assert TRY(test, exercise[f"Mended{name.capitalize()}"]) == "accepted"
    unmended = solution(name, stub)[f"Mended{name.capitalize()}"]
    assert TRY(TESTS[name], unmended) == "refused"


@pytest.mark.parametrize("name", NAMES)
def test_versions_are_what_the_check_takes_them_for(name: str) -> None:
    check = import_module(f"ringkv_edu.checks.lesson_10_{name}")
    lesson = solution(name)[f"catches_{name}"]
    for test in (TESTS[name], lesson):
        for said, versions in (("accepted", check.RIGHT), ("refused", check.WRONG)):
            for version in versions:
                assert TRY(test, eval(f"given_versions.{version}")) == said, version


@pytest.mark.parametrize("name", NAMES)
def test_drawn_versions_are_right_and_wrong(name: str) -> None:
    lesson = solution(name)[f"catches_{name}"]
    orders = set()
    for seed in range(30):
        drawn = given_versions.drawn(name, Random(seed))
        said = [TRY(TESTS[name], version) for version in drawn]
        assert said == [TRY(lesson, version) for version in drawn]
        assert said.count("accepted") >= 1
        assert said.count("refused") >= 5
        orders.add(tuple(said))
    assert len(orders) > 5
    assert set(DRAWN) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_unmended_class_is_the_toy(name: str) -> None:
    """What the learner gets to mend does what the shown toy does."""
    exercise = BY_NAME[name]
    mended = solution(name, stub)[f"Mended{name.capitalize()}"]
    for case in exercise.cases(Random(4)):
        if "Mended" in case.given:
            label = f"Mended{name.capitalize()}"
            shown = [case.run(exercise.answer({label: made})) for made in (mended, toy(name))]
            assert repr(shown[0]) == repr(shown[1]), case.given


def through(target: str, means: bool = False) -> Any:
    return scenes_10.seen_through(target, means)


RINGS = ("ringkv_edu.numpy_ring:NumpyRing", "ringkv_edu.cases.torch_row:TorchRow")


class Pure:
    def __init__(self, window: int) -> None:
        self.ring, self.seen = RingKVBuffer(window), 0

    def write(self, token: Any) -> None:
        self.ring.append([token], [token], self.seen)
        self.seen += 1

    def read(self) -> list[Any]:
        return [entry.key[0] for entry in self.ring.visible()]

    def step(self, tokens: Any) -> list[Any]:
        return [(self.write(token), self.read())[1] for token in tokens]


class PureMeans(Pure):
    def step(self, values: Any) -> list[Any]:
        return [float(np.mean(row)) for row in super().step(values)]


@pytest.mark.parametrize("target", RINGS)
def test_right_rings_of_the_package_are_accepted(target: str) -> None:
    lesson = {name: solution(name)[f"catches_{name}"] for name in ("window", "keys", "flag")}
    for name, test in lesson.items():
        for one in (test, TESTS[name]):
            one(through(target, means=name == "keys"))
    assert TorchRow.__name__ in RINGS[1]


def test_the_plain_ring_is_accepted() -> None:
    TESTS["window"](Pure)
    TESTS["start"](Pure)
    TESTS["keys"](PureMeans)


class Slack:
    """A NumpyRing that holds more than its window."""

    def __init__(self, window: int) -> None:
        self.ring = NumpyRing(window, 1, 1, slack=3)
        self.text: list[Any] = []

    def append(self, token: Any) -> None:
        self.text.append(token)
        self.ring.append(np.zeros((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.float32))

    def places(self) -> Any:
        return self.ring.positions[self.ring.positions >= 0]

    def held(self) -> list[Any]:
        return [self.text[place] for place in self.places()]

    def mask(self) -> list[bool]:
        return visibility_mask([len(self.text) - 1], self.places(), self.ring.window)[0].tolist()


class Rows:
    """A TorchRing that takes a padded batch column by column."""

    def __init__(self, window: int, rows: int) -> None:
        self.ring = TorchRing(window, rows, 1, 1)
        self.texts: list[list[Any]] = [[] for _ in range(rows)]

    def step(self, chunk: Any) -> list[list[Any]]:
        out: list[list[Any]] = [[] for _ in self.texts]
        for column in zip(*chunk):
            real = torch.tensor([int(token is not None) for token in column])
            zeros = torch.zeros(len(column), 1, 1, 1)
            self.ring.append(zeros, zeros, lengths=real)
            for row, token in enumerate(column):
                self.texts[row] += [token] if token is not None else []
                places = self.ring.positions[row]
                seen = [self.texts[row][place] for place in places.tolist() if place >= 0]
                out[row].append(seen if token is not None else [])
        return out


class Kept:
    """A NumpyRing with sinks, through its own state."""

    def __init__(self, window: int, keep: int = 0) -> None:
        self.ring = NumpyRing(window, 1, 1, sinks=keep)
        self.text: list[Any] = []

    def step(self, tokens: Any) -> list[Any]:
        out = []
        for token in tokens:
            self.text.append(token)
            self.ring.append(np.zeros((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.float32))
            out.append([self.text[place] for place in self.ring.positions if place >= 0])
        return out

    @classmethod
    def merge(cls, caches: Any) -> Any:
        return [(cache.ring.state_dict(), list(cache.text)) for cache in caches]

    @classmethod
    def extract(cls, batch: Any, row: int) -> Any:
        cache = cls(1)
        cache.ring, cache.text = NumpyRing.from_state_dict(batch[row][0]), batch[row][1]
        return cache


class Sorted(Slack):
    """A NumpyRing read in order of time."""

    def write(self, token: Any) -> None:
        self.append(token)

    def read(self) -> list[Any]:
        places = np.flatnonzero(
            visibility_mask([len(self.text) - 1], range(len(self.text)), self.ring.window)[0]
        )
        assert {*places} <= {*self.places()}
        return [self.text[place] for place in places]


class Paged:
    """Paged sequences in one pool, a token to a page."""

    def __init__(self, window: int, slots: int) -> None:
        self.window, self.pool = window, PagePool(slots, 1, 1, 1)
        self.sequences: dict[str, Any] = {}
        self.texts: dict[str, list[Any]] = {}

    def step(self, work: Any) -> dict[str, list[Any]]:
        out: dict[str, list[Any]] = {}
        for name, tokens in work.items():
            sequence = self.sequences.setdefault(name, PagedSequence(self.pool, self.window))
            text = self.texts.setdefault(name, [])
            out[name] = []
            for token in tokens:
                text.append(token)
                sequence.append(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32))
                out[name].append([text[place] for place in sequence.positions if place >= 0])
        return out


def test_more_right_rings_are_accepted() -> None:
    rings = {"start": Sorted, "half": Slack, "pads": Rows, "keep": Kept, "pool": Paged}
    for name, ring in rings.items():
        TESTS[name](ring)
        solution(name)[f"catches_{name}"](ring)


# the world


def test_the_prediction() -> None:
    assert [window for window in range(1, 7) if kept_by_slice(window) == 9] == [1]
    assert rows_of_columns() == [[0, 1, 7, 8, 9, 10], [1, 7, 8, 9, 10, 11], [7, 8, 9, 10, 11, 12]]
    assert "`0 1 7 8 9 10 11 12`" in PROSE
    layer = through("ringkv_edu.cases.foreign.transformers_sliding:SlidingLayer")
    check = import_module("ringkv_edu.checks.lesson_10_window")
    said = [TRY(check.usual([window]), layer) for window in range(1, 7)]
    assert said == ["refused", *["accepted"] * 5]
    import transformers

    assert f"transformers {transformers.__version__}, mlx-lm 0.32.2" in PROSE


def test_the_columns_of_mlx_lm() -> None:
    if not find_spec("mlx_lm"):
        return  # it has no build for some machines
    from ringkv_edu.cases.foreign.mlx_rotating import RotatingCache

    cache = RotatingCache(4, 1, 32, sinks=2)
    values = np.eye(13, 32, dtype=np.float32)[None]
    zeros = np.zeros_like(values)
    for token in range(10):
        cache.append(zeros[:, token : token + 1], values[:, token : token + 1])
    out = cache.step(zeros[:, 10:], zeros[:, 10:], values[:, 10:])[0]
    assert [np.flatnonzero(row).tolist() for row in out] == rows_of_columns()


def test_the_world(capsys: pytest.CaptureFixture[str]) -> None:
    lesson = [solution(name)[f"catches_{name}"] for name in ("window", "keys", "flag")]
    scenes_10.world(*lesson)
    ours, theirs, mlx = capsys.readouterr().out.strip().split("\n\n")
    assert re.findall(r"catches_(\w+) +accepted", ours) == ["window", "keys", "flag"]
    assert "fails" not in ours
    assert re.findall(r"catches_(\w+) +refused, window 1, ", theirs) == ["window", "keys"]
    assert "catches_flag     not asked: its state cannot be saved" in theirs
    if find_spec("mlx_lm"):
        assert re.findall(r"catches_(\w+) +accepted", mlx) == ["window", "keys", "flag"]
        assert re.findall(r"case (\w+) +fails", mlx) == ["8", "16", "44b"]
    assert "Then six recipes" in PROSE
    assert len(scenes_10.RECIPES) == 6
    assert {*scenes_10.RECIPES} <= {case.id for case in CASES}


def test_the_lesson_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['mlx_lm'] = None\n"
        "from ringkv_edu.checks.lesson_10 import EXERCISES\n"
        "from ringkv_edu import scenes_10 as scenes\n"
        "r = {n: v for e in EXERCISES for n, v in e.reference.items()}\n"
        "scenes.world(r['catches_window'], r['catches_keys'], r['catches_flag'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert "transformers' sliding layer: not installed (torch)" in done.stdout
    assert "mlx-lm's rotating cache: not installed (mlx_lm)" in done.stdout
    assert "the course's NumpyRing\n" in done.stdout


# prose, cases, and what is given


def test_every_report_is_listed() -> None:
    listed = "".join(
        (ROOT / "course" / name).read_text("utf-8") for name in ("references.md", "known_bugs.md")
    )
    cited = set(re.findall(r"[\w.-]+/[\w.-]+#\d+", TEXT + str(given_cases.__dict__)))
    for name in NAMES:
        (report,) = re.findall(r"\(([\w.-]+/[\w.-]+#\d+)\)", toy(name).__doc__)
        cited.add(report)
        assert report in CELLS[f"{BY_NAME[name].id}-why"].source
    assert len(cited) >= 9
    for report in cited:
        assert report in listed, report
    assert "lablup/mlxcel#412" in listed  # cited as mlxcel#412
    assert "mlxcel#412" in TEXT


def test_what_the_prose_counts() -> None:
    assert f"`ringkv cases` aims {len(CASES)} such recipes" in PROSE
    assert next(case for case in CASES if case.id == "44b").says == "a saved cache keeps its sinks"
    assert "as case 44b, where a saved cache keeps its sinks" in PROSE
    assert len(re.findall(r"^# ## Case \d: ", TEXT, re.MULTILINE)) == 8


@pytest.mark.parametrize("exercise", EXERCISES[:8], ids=lambda e: e.id)
def test_a_case_can_be_pasted(exercise: Any) -> None:
    names = solution(exercise.id.partition("-")[2])
    for case in exercise.cases(Random(2)):
        assert len(f"{exercise.id}: {LONGEST}{case.given}") <= WIDEST
        try:
            exec(case.given, names)
        except Exception:
            assert case.run(exercise.answer())["test"] == "refused"


def test_given_code_is_seen_and_holds_no_check() -> None:
    seen = set(modules("10_case_files"))
    wanted = {"ringkv_edu.given_cases", "ringkv_edu.given_versions", "ringkv_edu.scenes_10"}
    assert wanted <= seen
    assert not {module for module in seen if module.startswith(HIDDEN)}
    assert all(name in vars(given_cases) for name in TOYS.values())


def test_odd_tests() -> None:
    assert TRY(lambda cache_class: 1 / 0, Pure) == "refused"
    assert TRY(lambda cache_class: False, Pure) == "accepted"
    empty = through(RINGS[0])(4)
    assert empty.step([]) == []
