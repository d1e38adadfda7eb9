"""The cases: they hold on our rings, each catches the bug it is about, and foreign caches fit."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ringkv_edu.cases import CASES, Case, load, run
from ringkv_edu.cases.adapter import Subject
from ringkv_edu.cases.broken import BROKEN, TooWide
from ringkv_edu.cases.run import FAILS, HOLDS, NOT_ASKED

from .rings import each_ring

ADAPTER = '''
import numpy as np
from ringkv_edu import NumpyRing


class Bare:
    """Only the five methods."""

    offers = ()

    def __init__(self, window, kv_heads, head_dim):
        self.ring = NumpyRing(window, kv_heads, head_dim)

    def append(self, k, v):
        self.ring.append(k, v)

    def step(self, q, k, v):
        return self.ring.step(q, k, v).tolist()

    def positions(self):
        return self.ring.positions.tolist()

    def rewind(self, n):
        self.ring.rewind(n)

    def reset(self):
        self.ring.reset()


class Raises(Bare):
    def step(self, q, k, v):
        if k.shape[1] > 2:
            raise IndexError("no room")
        return super().step(q, k, v)


class Unknown(Bare):
    offers = ("wings",)


class Needy(Bare):
    def __init__(self, size):
        super().__init__(size, 1, 1)


class Lies(Bare):
    offers = ("attend",)


class Comma(Bare):
    offers = ("sinks")


class Number(Bare):
    offers = 5


class Leaves(Bare):
    def __init__(self, window, kv_heads, head_dim):
        raise SystemExit(0)


class Deep(Bare):
    def __init__(self, window, kv_heads, head_dim):
        self.__init__(window, kv_heads, head_dim)


class NeedsMore(Bare):
    def reset(self):
        import not_there

    def __init__(self, window, kv_heads, head_dim):
        self.reset()


class NoPositions(Bare):
    positions = None


class NoRewind:
    def append(self, k, v): ...
    def step(self, q, k, v): ...
    def reset(self): ...
'''


def verdicts(subject: Subject, cases: Any = CASES) -> dict[str, str]:
    return {result.case.id: result.verdict for result in run(subject, cases)}


@each_ring
@pytest.mark.parametrize("case", CASES, ids=[f"{c.id}-{c.source}" for c in CASES])
def test_a_known_bug_is_not_ours(subject: Subject, case: Case) -> None:
    (result,) = run(subject, [case])
    asked = result.verdict != NOT_ASKED
    assert asked == (case.id not in UNASKED[subject.name]), result.detail
    assert not asked or result.verdict == HOLDS, result.detail


UNASKED = {
    "NumpyRing": {"24", "24a"},
    "TorchRow": {"24", "24a"},
    "RotatingRing": {"41a"},
}  # one of them is asked each case


def test_every_case_is_asked_of_one_of_our_rings_and_can_fail() -> None:
    assert set.intersection(*UNASKED.values()) == set()
    caught = {
        id for b in BROKEN for id, verdict in verdicts(Subject(b)).items() if verdict == FAILS
    }
    assert caught == {case.id for case in CASES}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: b.__name__)
def test_a_rebuilt_bug_is_caught_by_its_own_case(broken: Any) -> None:
    found = verdicts(Subject(broken), [case for case in CASES if case.id == broken.case])
    assert found == {broken.case: FAILS}


def test_some_bugs_break_one_case_only() -> None:
    """Cases tell bugs apart: each of these fails nowhere but where its report says."""
    for name in ("NeverBack", "StateIsView", "Upcasts", "MadeAnew", "Uninitialised"):
        broken = next(b for b in BROKEN if b.__name__ == name)
        found = {id for id, verdict in verdicts(Subject(broken)).items() if verdict == FAILS}
        assert found == {broken.case}, name


CORRECT = """
import numpy as np
from ringkv_edu import oracle_attention


class Short:
    \"\"\"Keeps window - 1 tokens between steps, in lists, and refuses once anything was evicted.\"\"\"

    offers = ("bytes",)
    spare = 1

    def __init__(self, window, kv_heads, head_dim):
        self.window, self.row = window, 8 * kv_heads * head_dim
        self.reset()

    def reset(self):
        self.k, self.v, self.first = [], [], 0

    def append(self, k, v):
        self.k += list(np.moveaxis(np.array(k), 1, 0))
        self.v += list(np.moveaxis(np.array(v), 1, 0))
        extra = len(self.k) - (self.window - self.spare)
        if extra > 0:
            self.k, self.v, self.first = self.k[extra:], self.v[extra:], self.first + extra

    def step(self, q, k, v):
        keys = np.concatenate([np.array(self.k).reshape(-1, *k[:, 0].shape), np.moveaxis(k, 1, 0)])
        values = np.concatenate([np.array(self.v).reshape(-1, *v[:, 0].shape), np.moveaxis(v, 1, 0)])
        n = len(keys) - k.shape[1]
        padded = np.concatenate([np.zeros((q.shape[0], n, q.shape[2])), q], axis=1)
        k3, v3 = np.moveaxis(keys, 0, 1), np.moveaxis(values, 0, 1)
        out = oracle_attention(padded, k3, v3, self.window)[:, n:].astype(np.float32)
        self.append(k, v)
        return out

    def positions(self):
        return {self.first + i for i in range(len(self.k))}  # a set will do

    def rewind(self, n):
        if n and self.first:
            raise RuntimeError("tokens have been evicted")
        keep = len(self.k) - n
        self.k, self.v = self.k[:keep], self.v[:keep]

    @property
    def nbytes(self):
        return self.row * (self.window - self.spare)


class Lists(Short):
    \"\"\"The same with window tokens.\"\"\"

    spare = 0
"""


@pytest.mark.parametrize("name", ["Short", "Lists"])
def test_a_correct_cache_of_another_design_fails_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "correct.py").write_text(CORRECT, encoding="utf-8")
    results = list(run(load(f"{tmp_path / 'correct.py'}:{name}")))
    assert [(r.case.id, r.detail) for r in results if r.verdict == FAILS] == []
    assert {r.case.id for r in results if "as it may" in r.detail} == {"30a"}


def test_case_ids_are_unique_and_cite_a_report() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    for case in CASES:
        assert ("#" in case.source and "/" in case.source) or case.source.startswith("this course")


@pytest.fixture
def adapters(tmp_path: Path) -> Path:
    path = tmp_path / "my_adapters.py"
    path.write_text(ADAPTER, encoding="utf-8")
    return path


def test_five_methods_are_enough(adapters: Path) -> None:
    found = verdicts(load(f"{adapters}:Bare"))
    needy = {case.id for case in CASES if case.needs}  # it takes back a whole text, so 30a is asked
    assert {id for id, verdict in found.items() if verdict == NOT_ASKED} == needy
    assert {id for id in needy if found[id] == HOLDS} == set()
    assert {id for id, verdict in found.items() if verdict == HOLDS} == set(found) - needy


def test_an_exception_is_a_finding(adapters: Path) -> None:
    results = {r.case.id: r for r in run(load(f"{adapters}:Raises"))}
    assert results["13"].verdict == FAILS
    expected = "window 4: step of 4 after 6 tokens raised IndexError: no room"
    assert results["13"].detail == expected
    assert results["1"].verdict == HOLDS


def test_a_cache_that_ends_the_program_ends_one_case(adapters: Path) -> None:
    adapters.write_text(ADAPTER + QUITS, encoding="utf-8")
    done = ringkv("cases", f"{adapters}:Quits")
    assert done.returncode == 1
    assert "raised SystemExit: 0" in done.stdout
    assert "1 hold" not in done.stdout.splitlines()[-1]


QUITS = """

class Quits(Bare):
    def step(self, q, k, v):
        raise SystemExit(0)
"""


OTHERS = """

class NoGoingBack(Bare):
    def rewind(self, n):
        raise NotImplementedError


class RefusesLong(Bare):
    def __init__(self, window, kv_heads, head_dim):
        super().__init__(window, kv_heads, head_dim)

    def _short(self, k):
        if k.shape[1] > self.ring.window:
            raise ValueError("a chunk longer than the window")

    def append(self, k, v):
        self._short(k)
        super().append(k, v)

    def step(self, q, k, v):
        self._short(k)
        return super().step(q, k, v)


class Shared(Bare):
    pool = {}

    def __init__(self, window, kv_heads, head_dim):
        super().__init__(window, kv_heads, head_dim)
        self.ring = self.pool.setdefault((window, kv_heads, head_dim), self.ring)


class SameBuffer(Bare):
    out = None

    def step(self, q, k, v):
        out = np.array(super().step(q, k, v))
        if self.out is None or self.out.shape != out.shape:
            self.out = out
        self.out[...] = out
        return self.out


class Crashes(Bare):
    def step(self, q, k, v):
        if k.shape[1] > 4:
            np.zeros(4)[:] = np.zeros(k.shape[1])  # a ValueError of NumPy's, not a refusal
        return super().step(q, k, v)


class Slotted:
    __slots__ = ("ring",)
    offers = ("slack",)

    def __init__(self, window, kv_heads, head_dim, slack):
        self.ring = NumpyRing(window, kv_heads, head_dim, slack=slack)

    append, step, positions, rewind, reset = (
        vars(Bare)[name] for name in ("append", "step", "positions", "rewind", "reset")
    )
"""


def others(adapters: Path, name: str) -> dict[str, str]:
    adapters.write_text(ADAPTER + OTHERS, encoding="utf-8")
    return {
        verdict: " ".join(
            id for id, v in verdicts(load(f"{adapters}:{name}")).items() if v == verdict
        )
        for verdict in (HOLDS, FAILS, NOT_ASKED)
    }


def test_what_a_cache_does_not_do_is_not_asked(adapters: Path) -> None:
    found = others(adapters, "NoGoingBack")
    assert found[FAILS] == ""
    assert {"27", "29", "29a", "30a", "31c"} <= set(found[NOT_ASKED].split())


def test_refusing_a_long_chunk_is_no_bug(adapters: Path) -> None:
    found = others(adapters, "RefusesLong")
    assert found[FAILS] == ""
    assert {"2", "10"} <= set(found[NOT_ASKED].split())


def test_caches_that_share_and_outputs_that_change_are_seen(adapters: Path) -> None:
    assert "18" in others(adapters, "Shared")[FAILS].split()
    assert "1" in others(adapters, "SameBuffer")[FAILS].split()
    slotted = others(adapters, "Slotted")
    assert slotted[FAILS] == ""
    assert "30" in slotted[HOLDS].split()


def test_a_crash_in_a_chunk_is_no_refusal(adapters: Path) -> None:
    assert {"2", "10", "11"} <= set(others(adapters, "Crashes")[FAILS].split())


def test_a_file_may_import_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "helper_of_mine.py").write_text("from ringkv_edu import NumpyRing as Mine\n")
    (tmp_path / "numpy.py").write_text("from helper_of_mine import Mine\n")
    assert load(f"{tmp_path / 'numpy.py'}:Mine").name == "NumpyRing"
    assert "ndarray" in dir(sys.modules["numpy"])


def test_what_was_seen_is_said() -> None:
    results = {r.case.id: r for r in run(Subject(TooWide))}
    assert results["1"].detail == (
        "window 4: the query at position 4: saw 0 1 2 3 4; expected 1 2 3 4"
    )


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nonsense", "is no place"),
        (":Bare", "is no place"),
        ("no_such_module_here:Bare", "no module is called 'no_such_module_here'"),
        ("nowhere/my.py:Bare", "does not exist"),
        ("{adapters}:Missing", "its classes are .*Bare"),
        ("{adapters}:NoRewind", "lacks rewind"),
        ("{adapters}:Unknown", "offers names .*wings"),
        ("{adapters}:Needy", "cannot be used: it raised TypeError"),
        ("{adapters}:Lies", "offers 'attend' and lacks attend"),
        ("{adapters}:Comma", "offers is 'sinks'; give a tuple"),
        ("{adapters}:Number", "offers is 5; give a tuple"),
        ("{adapters}:Leaves", "cannot be used: it raised SystemExit: 0"),
        ("{adapters}:Deep", "cannot be used: it raised RecursionError"),
        ("{adapters}:np", "np is no class but module"),
        (".x:Bare", "no module's name"),
        ("{adapters}:NeedsMore", "NeedsMore needs not_there, which is not installed"),
        ("{adapters}:NoPositions", "the positions of NoPositions cannot be read"),
        ("{broken}:Bare", "cannot be used: it raised SyntaxError"),
    ],
)
def test_a_wrong_target_is_explained(adapters: Path, target: str, words: str) -> None:
    broken = adapters.with_name("broken.py")
    broken.write_text("class Bare(:\n", encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        load(target.replace("{adapters}", str(adapters)).replace("{broken}", str(broken)))


def ringkv(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ringkv_edu.cli", *arguments],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


def test_the_command(adapters: Path) -> None:
    done = ringkv("cases", f"{adapters}:Bare")
    assert done.returncode == 0
    assert (
        done.stdout.splitlines()[-1] == f"{bare_holds()} hold, 0 fail, {bare_not_asked()} not asked"
    )
    assert "it keeps no sinks" in done.stdout
    done = ringkv("cases", "ringkv_edu.cases.broken:WriteFirst", "--only", "10, 1,")
    assert done.returncode == 1
    assert "FAILS      10   a chunk longer than the window leaks no future" in done.stdout
    assert "as in Lightning-AI/litgpt#2182" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 hold, 1 fail, 0 not asked"


def bare_not_asked() -> int:
    return sum(bool(case.needs) for case in CASES)


def bare_holds() -> int:
    return len(CASES) - bare_not_asked()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense",), "is no place"),
        (("ringkv_edu.numpy_ring:NumpyRing", "--only", "10,99"), "no case is called 99"),
    ],
)
def test_a_wrong_call_of_the_command(arguments: tuple[str, ...], words: str) -> None:
    done = ringkv("cases", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


FOREIGN = {
    "transformers_sliding:SlidingLayer": {"31", "31c", "48"},
    "transformers_sliding:RecordingSlidingLayer": {"18", "31c", "48"},
}
if importlib.util.find_spec("mlx_lm"):  # has no build for some machines
    SINKS_MASKED = {"8", "16", "31a", "31c", "31d", "44b", "60"}
    ROOM = {"18", "31b", "55", "55a"}
    FOREIGN |= {
        "mlx_rotating:RotatingCache": SINKS_MASKED | ROOM,
        "mlx_rotating:RotatingCacheTrim": SINKS_MASKED | ROOM | {"27", "27b", "29"},
    }


@pytest.mark.parametrize("target", FOREIGN)
def test_a_foreign_cache_on_the_pinned_release(target: str) -> None:
    """What fails is what those releases do: a new release may well mend it."""
    found = verdicts(load(f"ringkv_edu.cases.foreign.{target}"))
    assert {id for id, verdict in found.items() if verdict == FAILS} == FOREIGN[target]


def page() -> str:
    return Path(__file__).resolve().parents[1].joinpath("course/known_bugs.md").read_text("utf-8")


def test_the_page_lists_what_was_found() -> None:
    rows = [line.strip("| ").split(" | ") for line in page().splitlines() if line[:2] == "| "]
    found = {row[0]: row[1:] for row in rows if row[0] != "case"}
    assert {id: row[:2] for id, row in found.items()} == {c.id: [c.source, c.says] for c in CASES}
    fails = [
        {id for id, row in found.items() if row[column] == "**fails**"} for column in (2, 3, 4)
    ]
    assert fails[:2] == [set(), FOREIGN["transformers_sliding:SlidingLayer"]]
    assert fails[2] == FOREIGN.get("mlx_rotating:RotatingCache", fails[2])


def test_the_adapter_on_the_page_works(tmp_path: Path) -> None:
    code = page().split("```python\n")[1].split("```")[0]
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    found = verdicts(load(f"{tmp_path / 'mine.py'}:KeepEverything"))
    assert {id for id, verdict in found.items() if verdict == FAILS} == {"18"}
    assert NOT_ASKED in found.values()
