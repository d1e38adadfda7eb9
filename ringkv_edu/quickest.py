"""Several ways to one result take turns until it is known which is the quickest here.

Which product of a matrix is fast differs from one processor to the next by more than a factor of
two, and with what else is in its caches. So it isn't written down: the first calls use each way in
turn and are timed, and the quickest is kept. Now and then it is asked again, ever more rarely.

The ways may differ in the last bit of a number, so the same program can give such bits
differently on another day. Under ``torch.use_deterministic_algorithms(True)`` the first way is
always taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import torch

__all__ = ["Turns"]

ROUNDS = 4  # how often each way is timed before one is chosen: the least time counts
RARELY = 4096  # calls after which the question is asked again at the latest


class Turns:
    """One question: which of ``ways`` is quickest. Called with what they are called with."""

    def __init__(self, ways: Sequence[Callable[..., Any]]) -> None:
        self.ways = tuple(ways)
        self.best = self.calls = self.asked = 0  # asked: the call at which turns began, or begin
        self.least = [float("inf")] * len(self.ways)

    def __call__(self, *given: Any) -> Any:
        """Use the quickest way, or the one whose turn it is."""
        if torch.are_deterministic_algorithms_enabled():
            return self.ways[0](*given)
        turn = self.calls - self.asked
        self.calls += 1
        if turn < 0:
            return self.ways[self.best](*given)
        # one place farther in each round: calls in pairs, say, are cold and warm in turn
        way = (turn + turn // len(self.ways)) % len(self.ways)
        start = perf_counter()
        result = self.ways[way](*given)
        self._note(turn, way, perf_counter() - start)
        return result

    def _note(self, turn: int, way: int, seconds: float) -> None:
        """Note what a turn took; after the last one, choose."""
        self.least[way] = min(self.least[way], seconds) if turn >= len(self.ways) else seconds
        if turn + 1 >= ROUNDS * len(self.ways):
            self.best = min(range(len(self.ways)), key=self.least.__getitem__)
            self.asked = self.calls + min(3 * self.calls, RARELY)
