"""Of several ways the quickest is found; which that is may change."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ringkv_edu.quickest as quickest
import ringkv_edu.torch_attention as kernels
from ringkv_edu import TorchRing
from ringkv_edu.quickest import RARELY, ROUNDS, Turns


class Clock:
    """Three ways, each with its seconds; what was used, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
        self.now, self.seconds, self.used = 0.0, list(seconds), []
        monkeypatch.setattr(quickest, "perf_counter", lambda: self.now)
        self.turns = Turns([self.way(n) for n in range(len(seconds))])

    def way(self, n: int) -> Any:
        def run(x: int) -> tuple[int, int]:
            self.now += self.seconds[n]
            self.used.append(n)
            return n, x

        return run


def test_each_way_has_its_turns_and_the_quickest_is_kept(monkeypatch: Any) -> None:
    clock = Clock(monkeypatch, 3.0, 1.0, 2.0)
    assert [clock.turns(x)[1] for x in range(40)] == list(range(40))
    trial = 3 * ROUNDS
    assert sorted(clock.used[:trial]) == sorted([0, 1, 2] * ROUNDS)
    assert set(clock.used[trial:]) == {1}
    for start in (0, 1):  # calls in pairs: nobody has only the first of them
        assert set(clock.used[start:trial:2]) == {0, 1, 2}


def test_it_asks_again_and_ever_more_rarely(monkeypatch: Any) -> None:
    clock = Clock(monkeypatch, 1.0, 2.0)
    for x in range(3 * RARELY):
        if x == 20:
            clock.seconds = [2.0, 1.0]  # another program has left the caches
        clock.turns(x)
    assert 2 * ROUNDS < clock.used[100:].count(0) < 8 * ROUNDS
    assert clock.turns(0)[0] == 1


def test_one_slow_call_decides_nothing(monkeypatch: Any) -> None:
    clock = Clock(monkeypatch, 1.0, 2.0)
    clock.turns(0)
    clock.seconds[0] = 1e9  # interrupted
    clock.turns(0), clock.turns(0)
    clock.seconds[0] = 1.0
    for x in range(20):
        clock.turns(x)
    assert clock.used[-1] == 0


def test_who_wants_the_same_bits_gets_the_first_way(monkeypatch: Any) -> None:
    clock = Clock(monkeypatch, 9.0, 1.0)
    torch.use_deterministic_algorithms(True)
    try:
        assert {clock.turns(0)[0] for _ in range(40)} == {0}
    finally:
        torch.use_deterministic_algorithms(False)
    assert {clock.turns(0)[0] for _ in range(40)} == {0, 1}


def test_small_rings_have_one_way_and_large_ones_turns() -> None:
    q, k = torch.randn(1, 4, 1, 64), torch.randn(1, 2, 1, 64)
    small, large = TorchRing(64, 1, 2, 64), TorchRing(4096, 1, 2, 64)
    for ring in (small, large):
        ring.append(*[torch.randn(1, 2, ring.window, 64)] * 2)
        ring.step(q, k, k)
        ring.step(q, k, k)
    assert small._host.turns == {}
    (turns,) = large._host.turns.values()
    assert turns.calls == 2


def test_the_answers_that_are_remembered_stay_few(monkeypatch: Any) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    monkeypatch.setattr(kernels, "MOST", 3)
    known: dict[Any, Turns] = {}
    for m in (1, 2, 4, 8, 16, 32):
        kernels.way_of(torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, m, 2), True, known)
        assert 1 <= len(known) <= 3
