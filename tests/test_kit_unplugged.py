"""The unplugged ten minutes: the cups hold what a ring holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ringkv_edu import NumpyRing, slot_of, visible
from ringkv_edu.rewind import RewindError

from .test_kit_pages import page, table


def ring_after(cards: int, **sizes: int) -> NumpyRing:
    ring = NumpyRing(**{"window": 4, "kv_heads": 1, "head_dim": 1, **sizes})
    ring.append(*np.zeros((2, 1, cards, 1), np.float32))
    return ring


def test_the_script_takes_ten_minutes(root: Path) -> None:
    clock = 0
    for at, minutes, *_ in table(page(root, "unplugged.md"), "| minute | minutes |")[1:]:
        assert int(at) == clock
        clock += int(minutes)
    assert clock == 10


def test_the_cups_hold_what_a_ring_holds(root: Path) -> None:
    rows = table(page(root, "unplugged.md"), "| card | cup 0 |")[1:]
    assert [int(row[0]) for row in rows] == list(range(10))
    before: set[int] = set()
    for card, *cups, leaves, sees in rows:
        held = ring_after(int(card) + 1).positions.tolist()
        assert cups == ["." if p < 0 else str(p) for p in held]
        assert leaves == " ".join(map(str, sorted(before - set(held))))
        assert sees == " ".join(str(j) for j in range(10) if visible(int(card), j, 4))
        before = {p for p in held if p >= 0}


def test_the_mistake_is_as_wrong_and_as_lucky_as_it_says(root: Path) -> None:
    _, cards, by_card, by_cup = table(page(root, "unplugged.md"), "| | cup 0 |")
    held = ring_after(6).positions.tolist()
    assert [int(c) for c in cards[1:]] == held
    assert [int(c) for c in by_card[1:]] == [5 - p for p in held]
    assert [int(c) for c in by_cup[1:]] == [slot_of(5, 4) - slot for slot in range(4)]
    assert (
        [7 - p for p in ring_after(8).positions] == [3 - slot for slot in range(4)] == [3, 2, 1, 0]
    )
    assert "same wrong rule gives 3, 2, 1, 0 and is right" in page(root, "unplugged.md")


def test_drafts_cannot_be_taken_back_without_more_cups() -> None:
    with pytest.raises(RewindError):
        ring_after(10).rewind(2)
    ring_after(10, slack=2).rewind(2)
    with pytest.raises(RewindError, match="needs position 3"):
        ring_after(10, slack=2).rewind(3)
    assert slot_of(3, 6) == slot_of(9, 6)


def test_the_answers(root: Path) -> None:
    text = " ".join(page(root, "unplugged.md").partition("Answers: ")[2].split())
    held = sorted(ring_after(10, window=3, sinks=1).positions.tolist())
    assert text.startswith("cards 0, 7, 8 and 9.")
    assert held == [0, 7, 8, 9]
    lost = [
        j for j in range(5) if visible(4, j, 4) and slot_of(j, 4) in {slot_of(p, 4) for p in (5, 6)}
    ]
    assert lost == [1, 2]
    assert "Cards 1 and 2, and it sees 5 and 6" in text
