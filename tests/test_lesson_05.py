"""What lesson 05 says in prose, in tables and in pictures, computed again; and what it is given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from ringkv_edu import tiny_model
from ringkv_edu.checks import exercise
from ringkv_edu.checks.compare import plain
from ringkv_edu.checks.guard import InputChanged, call
from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_05 import EXERCISES
from ringkv_edu.figures.cursors import SEEN, WINDOW, cursors
from ringkv_edu.figures.leak import shares, weights
from ringkv_edu.figures.memory_flat import TOKENS, measure, memory_table
from ringkv_edu.figures.still import words_in
from ringkv_edu.given_spy import Recording, Spy
from ringkv_edu.given_torch import RingRows, drawn, filled_rows, newest_sees, put
from ringkv_edu.grading.release import lessons, source_of
from ringkv_edu.torch_ring import TorchRing

ROOT = Path(__file__).resolve().parents[1]
LESSON = (ROOT / "course/lessons/05_torch_ring.py").read_text(encoding="utf-8")
REFERENCE = {name: value for e in EXERCISES for name, value in e.reference.items()}


def test_the_given_rows_are_a_torch_ring() -> None:
    rng, seen = Random(0), [10, 6, 3, 0]
    rows, ring = RingRows(4, 4, 2, 3), TorchRing(4, 4, 2, 3, dtype=torch.float64)
    for step in range(max(seen)):
        k, v = drawn(rng, 2, 4, 2, 3)
        alive = torch.tensor(seen) > step
        before = [x.clone() for x in (rows.keys, rows.values, rows.positions, rows.seen)]
        put(rows, k, v)
        for memory, old in zip((rows.keys, rows.values, rows.positions, rows.seen), before):
            memory.copy_(torch.where(alive.view(-1, *[1] * (old.ndim - 1)), memory, old))
        ring.append(k[:, :, None], v[:, :, None], lengths=alive.long())
        for name in ("keys", "values", "positions", "seen"):
            assert torch.equal(getattr(rows, name), getattr(ring, name))
        assert torch.equal(newest_sees(rows), rows.positions >= 0)
    filled = filled_rows(seen, Random(1), 4, 2, 3)
    assert torch.equal(filled.positions, ring.positions)
    assert torch.equal(filled.seen, ring.seen)
    assert bool((filled.keys[ring.positions[:, None].expand(-1, 2, -1) < 0] == 0).all())


def test_the_references_are_a_torch_ring() -> None:
    rng = Random(3)
    rows, ring = filled_rows([0, 0, 0], rng, 4, 2, 4), TorchRing(4, 3, 2, 4, dtype=torch.float64)
    step, again = REFERENCE["decode_step"], REFERENCE["start_again"]
    for number in range(30):
        if number in (5, 17):
            again(rows, torch.tensor([False, True, False]))
            ring.reset([1])
        q, (k, v) = drawn(rng, 3, 4, 4), drawn(rng, 2, 3, 2, 4)
        expected = ring.step(q[:, :, None], k[:, :, None], v[:, :, None])[:, :, 0]
        torch.testing.assert_close(step(rows, q, k, v), expected, rtol=1e-12, atol=1e-12)
        assert torch.equal(rows.positions, ring.positions)


def test_the_table_beside_the_picture_of_cursors() -> None:
    held, following = cursors()
    assert WINDOW == 4
    for row, (positions, slot) in enumerate(zip(held, following)):
        cells = f"| {row} | {SEEN[row]} | {' '.join(map(str, positions))} "
        assert f"{cells}| position {SEEN[row]} to slot {slot} |" in LESSON


def test_the_table_beside_the_picture_of_the_leak() -> None:
    shown = " | ".join(f"{share:.2f}" if share else "0" for share in shares(isolated=False))
    assert f"no sequence test | {shown} |" in LESSON
    assert not shares(isolated=True).any()
    for isolated in (False, True):
        assert weights(isolated).sum(axis=1) == pytest.approx(1)


def test_the_picture_of_memory_shows_what_is_said() -> None:
    marks = measure()
    last, kib = marks[-1], 1024
    assert last.tokens == TOKENS == 4096
    assert len({mark.ring for mark in marks}) == 1
    assert all(mark.growing == mark.tokens * kib for mark in marks)
    words = words_in(ROOT / "course/figures/memory.png")
    said = re.search(r"line to ([\d,]+) KiB, .*twice that.* flat line at (\d+) KiB", words)
    assert said
    assert [f"{last.growing // kib:,}", f"{last.ring // kib}"] == list(said.groups())
    assert 1.99 < last.joining / last.growing < 2
    assert "4,096.0" in memory_table()


def test_the_worked_tables() -> None:
    masks = REFERENCE["rows_mask"]
    for seen, held in re.findall(r"^# \| (\d+) \| ([\d -]+) \| [.# ]+ \|$", LESSON, re.MULTILINE):
        row = masks(torch.tensor([[int(p) for p in held.split()]]), torch.tensor([int(seen)]), 3)
        shown = " ".join("#" if sees else "." for sees in row[0].tolist())
        assert f"| {seen} | {held} | {shown} |" in LESSON
    given = torch.tensor([10, 6, 3]), torch.tensor([4, 1, 2]), 4
    left, after = REFERENCE["chunk_positions"](*given, "left")
    right, _ = REFERENCE["chunk_positions"](*given, "right")
    for row in range(3):
        cells = [" ".join(map(str, side[row].tolist())) for side in (left, right)]
        assert f"| {row} | {cells[0]} | {cells[1]} | {int(after[row])} |" in LESSON


def test_the_case_file_shows_what_the_bug_does() -> None:
    stub = source_of(next(c for c in lessons()["05_torch_ring"].cells("answer")
                          if c["id"] == "case05-replay"))  # fmt: skip
    for source, expected in ((stub, [3, -1, -1, -1]), (None, [0, 1, 2, 3])):
        names: dict[str, Any] = {"torch": torch} | REFERENCE
        if source:
            exec(source, names)
        ring = names["TokenRing"](4)
        run = Recording(ring.write)
        for token in (1, 2, 3):
            ring.token.fill_(token)
            run.replay()
        assert ring.slots.tolist() == expected
    assert "should hold 0 1 2 3, and holds 3 -1 -1 -1" in LESSON


READS = {
    "item": lambda t: t[0].item(),
    "int": lambda t: int(t[0]),
    "tolist": lambda t: t.tolist(),
    "numpy": lambda t: t.numpy(),
    "array": lambda t: t.__array__(),
    "cpu": lambda t: t.cpu(),
    "if": lambda t: 1 if t[0] else 0,
    "print": lambda t: f"{t}",
    "index": lambda t: torch.zeros(4)[t[0]],
    "range": lambda t: range(t[0]),
    "mask": lambda t: t[t > 1],
    "nonzero": lambda t: (t > 1).nonzero(),
    "equal": lambda t: torch.equal(t, t),
    "from numbers": lambda t: torch.tensor([t[0], t[1]]),
    "in": lambda t: 2 in t,
}
NO_READS = {
    "arithmetic": lambda t: (t + 1) % 2,
    "views": lambda t: t[None, 1:].expand(3, -1),
    "gather": lambda t: torch.zeros(5)[t],
    "scatter": lambda t: torch.zeros(5).index_copy_(0, t, torch.ones(3)),
    "fill by mask": lambda t: t.clone().__setitem__(t > 1, 0),
    "one hot": lambda t: torch.nn.functional.one_hot(t, 4),
    "one by one": lambda t: torch.stack([each + 1 for each in t]),
    "constants": lambda t: torch.tensor([1, 2]) + torch.arange(2),
    "to its device": lambda t: t.to(t.device),
}


@pytest.mark.parametrize("name", READS)
def test_the_spy_sees_a_read(name: str) -> None:
    with Spy() as spy:
        READS[name](torch.tensor([1, 2, 3]))
    assert spy.reads


@pytest.mark.parametrize("name", NO_READS)
def test_the_spy_sees_no_read(name: str) -> None:
    with Spy() as spy:
        NO_READS[name](torch.tensor([1, 2, 3]))
    assert spy.reads == 0


def test_a_torch_ring_reads_nothing_and_makes_nothing_large() -> None:
    ring = TorchRing(64, batch=2, kv_heads=2, head_dim=16, dtype=torch.float64)
    q, k = torch.ones(2, 4, 1, 16).double(), torch.ones(2, 2, 1, 16).double()
    with Spy() as spy:
        for _ in range(3):
            ring.step(q, k, k)
    assert (spy.reads, spy.largest < ring.keys.nbytes) == (0, True)


def test_a_recording_refuses_reads_and_replays_a_ring() -> None:
    ring = TorchRing(4, batch=2, kv_heads=1, head_dim=2)
    k = torch.zeros(2, 1, 1, 2)
    run = Recording(lambda: ring.append(k, k))
    for step in range(1, 7):
        k.fill_(step)
        run.replay()
    assert ring.positions.tolist() == [[4, 5, 6, 3]] * 2
    assert ring.keys[0, 0, :, 0].tolist() == [4, 5, 6, 3]
    with pytest.raises(RuntimeError, match="read by the host while recording"):
        Recording(lambda: ring.seen.tolist())


def test_checks_take_tensors() -> None:
    assert plain((torch.tensor([1, -1]), torch.tensor(True))) == [[1, -1], True]

    def changes(x: Any, untouched: Any) -> None:
        x += 1

    with pytest.raises(InputChanged, match="`x` was tensor"):
        call(changes, torch.zeros(2), torch.ones(2))
    call(lambda x: x + 1, torch.tensor([float("nan")]))
    call(changes, torch.zeros(2), torch.ones(2), may_change=(0,))


@pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if e.id != "predict05"], ids=lambda e: e.id
)
def test_a_case_can_be_pasted_into_the_notebook(exercise: Any) -> None:
    setup = source_of(next(lessons()["05_torch_ring"].cells("given")))
    for seed in range(20):
        for place, case in enumerate(exercise.cases(Random(seed)), 1):
            names: dict[str, Any] = {}
            exec(setup, names)
            exec(case.given, names | dict(exercise.reference))
            said = f"{exercise.id}: not yet. Case {place} of 99: {case.given}"
            assert len(said) <= WIDEST, said


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
    )
    return done.stdout + done.stderr


def test_earlier_lessons_do_not_wait_for_torch() -> None:
    code = """
import json, sys
from ringkv_edu.checks import asking, exercise
found = [exercise(name).id for name in ("ex00-last", "case04-length")]
print(json.dumps([found, asking("append"), asking("write_rows"), "torch" in sys.modules]))
"""
    assert json.loads(run(code)) == [["ex00-last", "case04-length"], ["ex02-append"], [], False]


def test_without_torch_one_sentence_says_how_to_get_it() -> None:
    code = """
import sys, importlib.util
class Hider:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hider())
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "torch" else real(name, package)
from ringkv_edu.checks import exercise, exercises
print("tr1-write" in exercises(), exercise("ex00-last").id)
try:
    import ringkv_edu.given_torch
except Exception as error:
    print(error._render_traceback_()[0])
"""
    assert run(code).splitlines() == [
        "False ex00-last",
        "This lesson needs torch. Install it in a terminal with `python -m pip install "
        '"ringkv-edu[torch]"`, then restart the kernel. Lessons 00 to 04 do without it.',
    ]


def my_ring(names: dict[str, Any]) -> Any:
    cell = next(c for c in lessons()["05_torch_ring"].cells("given") if c["id"] == "05-own-ring")
    exec(source_of(cell), names)
    return names["MyRing"]


def side_by_side(capsys: pytest.CaptureFixture[str], **changes: Any) -> str:
    names = {"torch": torch, "RingRows": RingRows, **REFERENCE, **changes}
    tiny_model.side_by_side(my_ring(names), names)
    return capsys.readouterr().out


def test_the_learners_ring_writes_what_the_librarys_cache_writes(capsys) -> None:
    said = side_by_side(capsys)
    assert said.endswith("The same tokens: a model decodes with your ring.\n")
    tokens = re.findall(r"(cache|ring):((?: +\d+)+)", said)
    assert len(tokens) == 8
    assert len({text.strip() for _, text in tokens}) == 4  # each once for either cache
    assert all(len(set(text.split())) > 10 for _, text in tokens)


@pytest.mark.parametrize("mistake", ["newest-overwritten", "first-row", "seen-wraps", "swapped"])
def test_a_wrong_ring_writes_something_else(capsys, mistake: str) -> None:
    mutant = next(m for m in exercise("tr1-write").mutants if m.name == mistake)
    said = side_by_side(capsys, **mutant.answer)
    assert "they part here" in said
    assert "They should be the same." in said


def test_a_missing_function_is_named(capsys) -> None:
    def start_again(rows: Any, done: Any) -> None: ...

    said = side_by_side(capsys, rows_mask=..., start_again=start_again)
    assert said.splitlines() == [
        "`rows_mask` is missing: it is exercise 2.",
        "`start_again` is missing: it is exercise 4.",
        "Write it, then run this cell again.",
    ]


def test_a_ring_that_raises_is_no_traceback(capsys) -> None:
    mutant = next(m for m in exercise("tr1-write").mutants if m.name == "no-modulo")
    assert "With your ring the model raised IndexError" in side_by_side(capsys, **mutant.answer)
