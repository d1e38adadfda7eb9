"""Lesson 01: a buffer that shifts, its bug, and what it moves."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given import token
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["SHIFT"]


class ShiftBuffer:
    """Keep the last ``window_size`` tokens in lists, the oldest at index 0."""

    def __init__(self, window_size: int) -> None:
        self.window_size = window_size
        self.keys: list[list[float]] = []
        self.values: list[list[float]] = []
        self.positions: list[int] = []

    def append(self, key: list[float], value: list[float], position: int) -> None:
        """Add one token; let the oldest go once there are too many."""
        self.keys.append(key)
        self.values.append(value)
        self.positions.append(position)
        if len(self.keys) > self.window_size:
            self.evict()

    def evict(self) -> None:
        """Let the oldest token go."""
        self.keys.pop(0)
        self.values.pop(0)
        self.positions.pop(0)


def entries_moved(tokens: int, window_size: int) -> int:
    """Count the entries that ``pop(0)`` moves one place to the left, in one of the lists."""
    return max(0, tokens - window_size) * window_size


def _buffer_with(evict: Callable[[ShiftBuffer], None]) -> type[ShiftBuffer]:
    return type("ShiftBuffer", (ShiftBuffer,), {"evict": evict})


def _newest_position_lost(self: ShiftBuffer) -> None:
    self.keys.pop(0)
    self.values.pop(0)
    self.positions.pop()


def _positions_kept(self: ShiftBuffer) -> None:
    self.keys.pop(0)
    self.values.pop(0)


def _newest_lost(self: ShiftBuffer) -> None:
    self.keys.pop()
    self.values.pop()
    self.positions.pop()


def _values_kept(self: ShiftBuffer) -> None:
    self.keys.pop(0)
    self.positions.pop(0)


class _TooNarrow(ShiftBuffer):
    def append(self, key: list[float], value: list[float], position: int) -> None:
        super().append(key, value, position)
        if len(self.keys) >= self.window_size:
            self.evict()


class _TooWide(ShiftBuffer):
    def __init__(self, window_size: int) -> None:
        super().__init__(window_size + 1)


def _shift_cases(rng: Random) -> list[Case]:
    runs = [(4, 3), (4, 4), (4, 5), (4, 10), (rng.randrange(2, 7), rng.randrange(8, 15))]
    costs = [
        (10, 4),
        (4, 4),
        (3, 4),
        (200, 16),
        (rng.randrange(50, 500), rng.randrange(2, 40)),
    ]
    return [_shift_case(rng, *run) for run in runs] + [_cost_case(*cost) for cost in costs]


def _shift_case(rng: Random, window: int, tokens: int) -> Case:
    pairs = [token(rng) for _ in range(tokens)]

    def run(answer: Answer) -> dict[str, Any]:
        buffer = answer.ShiftBuffer(window)
        for position, (key, value) in enumerate(pairs):
            buffer.append(list(key), list(value), position)
        return {"positions": buffer.positions, "keys": buffer.keys, "values": buffer.values}

    return Case(f"window {window}, {tokens} tokens", run)


def _cost_case(tokens: int, window: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": answer.entries_moved(tokens, window)}

    return Case(f"entries_moved({tokens}, {window})", run)


SHIFT = Exercise(
    id="ex08-shift",
    names=("ShiftBuffer", "entries_moved"),
    cases=_shift_cases,
    reference=answers(ShiftBuffer, entries_moved),
    mutants=(
        Mutant(
            "newest-position-lost",
            "the newest position is dropped where the oldest should go, as pop() without 0 "
            "does: the positions stay 0, 1, 2, ... for ever",
            answers(ShiftBuffer=_buffer_with(_newest_position_lost)),
        ),
        Mutant(
            "positions-kept",
            "positions are never dropped, so they no longer stand beside their keys",
            answers(ShiftBuffer=_buffer_with(_positions_kept)),
        ),
        Mutant(
            "values-kept",
            "values are never dropped, so they no longer stand beside their keys",
            answers(ShiftBuffer=_buffer_with(_values_kept)),
        ),
        Mutant(
            "newest-lost",
            "the newest token is dropped in place of the oldest",
            answers(ShiftBuffer=_buffer_with(_newest_lost)),
        ),
        Mutant(
            "too-narrow",
            "the window is one too narrow: a token goes before the buffer is full",
            answers(ShiftBuffer=_TooNarrow),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide: window_size + 1 tokens are kept",
            answers(ShiftBuffer=_TooWide),
        ),
        Mutant(
            "moves-always",
            "tokens that only fill the buffer are counted: nothing moves then",
            answers(entries_moved=lambda tokens, window: tokens * window),
        ),
        Mutant(
            "newest-stays",
            "the token that was just appended is left out: it moves, too",
            answers(entries_moved=lambda tokens, w: max(0, tokens - w) * (w - 1)),
        ),
        Mutant(
            "one-more",
            "one move too many is counted each time: W entries stand behind the one that goes",
            answers(entries_moved=lambda tokens, w: max(0, tokens - w) * (w + 1)),
        ),
        Mutant(
            "three-lists",
            "all three lists are counted: the question is about one of them",
            answers(entries_moved=lambda tokens, w: 3 * max(0, tokens - w) * w),
        ),
        Mutant(
            "evictions",
            "evictions are counted, not the entries that each of them moves",
            answers(entries_moved=lambda tokens, window: max(0, tokens - window)),
        ),
        Mutant(
            "below-zero",
            "the count goes below 0 while the buffer is not full",
            answers(entries_moved=lambda tokens, window: (tokens - window) * window),
        ),
    ),
)
