"""The live picture of lesson 02 never stops a lesson, whatever `write` is."""

from __future__ import annotations

import sys

import pytest

from ringkv_edu.figures import write_cost as module
from ringkv_edu.figures.write_cost import LISTS, SHIFTING, YOURS, measure, write_cost
from ringkv_edu.given_numpy import RingArrays


def write(ring: RingArrays, k, v) -> None:
    slot = ring.seen % ring.window
    ring.keys[:, slot], ring.values[:, slot], ring.positions[slot] = k, v, ring.seen
    ring.seen += 1


def raises(ring, k, v):
    ring.keys[:, ring.seen] = k


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SIZES", (4, 8))
    monkeypatch.setattr(module, "SECONDS", 0.01)


def test_three_memories_are_measured_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    still = write_cost({"write": write})
    assert len(still.figure.axes[0].lines) == 3
    assert all(name in still.alt for name in (SHIFTING, LISTS, YOURS, "At 4 and at 8 slots"))
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "microseconds for one write"
    assert [row.split()[0] for row in rows[1:]] == ["window", "4", "8"]
    assert all(name in rows[1] for name in (SHIFTING, LISTS, YOURS))


def test_it_finds_write_where_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    write_cost()
    assert YOURS in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({}, "There is no `write` yet"),
        ({"write": raises}, "Your `write` raised IndexError"),
        ({"write": lambda ring, k, v: None}, "does not store a token"),
    ],
)
def test_a_write_that_does_not_work_is_named_in_one_line(names, words, capsys) -> None:
    still = write_cost(names)
    assert len(still.figure.axes[0].lines) == 2
    assert YOURS not in still.alt
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert words in first
    assert second == ""


def test_without_matplotlib_there_is_the_table(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert write_cost({"write": write}) is None
    assert "matplotlib is not installed" in capsys.readouterr().out


def test_the_memories_keep_the_last_tokens() -> None:
    assert set(measure()) == {SHIFTING, LISTS}
    assert set(measure(write)) == {SHIFTING, LISTS, YOURS}
