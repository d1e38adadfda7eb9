"""Lesson 01: what a cached token costs, and what a shifting buffer moves."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given import token
from .model import Answer, Case, Exercise, Mutant, answers

# ex01-bytes: bytes of a cache, and the least time to read it


def cache_bytes(
    tokens: int, layers: int, kv_heads: int, head_dim: int, bytes_per_number: int
) -> int:
    """Count the bytes of keys and values, over all layers."""
    return 2 * tokens * layers * kv_heads * head_dim * bytes_per_number


def read_floor_ms(weight_bytes: float, kv_bytes: float, bytes_per_second: float) -> float:
    """Give the least milliseconds a decoded token takes: everything is read once."""
    return 1000 * (weight_bytes + kv_bytes) / bytes_per_second


def _bytes_cases(rng: Random) -> list[Case]:
    shapes = [(1, 32, 32, 128, 2), (16, 32, 8, 128, 1), (48, 30, 3, 64, 4)]
    shapes += [
        (
            rng.randrange(2, 64),
            rng.randrange(2, 49),
            rng.choice((2, 4, 8)),
            rng.choice((64, 96, 128)),
            rng.choice((1, 2, 4)),
        )
        for _ in range(2)
    ]
    traffic = [(13.5e9, 0.0, 1e12), (13.5e9, 17.2e9, 1e12), (13.5e9, 126_277_632, 1e12)]
    traffic += [(rng.randrange(1, 30) * 1e9, rng.randrange(1, 20) * 1e9, rng.choice((1e12, 2e12)))]
    return [_bytes_case(*shape) for shape in shapes] + [_floor_case(*t) for t in traffic]


def _bytes_case(*shape: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": answer.cache_bytes(*shape)}

    words = "{} tokens, {} layers, {} kv heads, head_dim {}, {} bytes a number".format(*shape)
    return Case(words, run)


def _floor_case(weights: float, kv: float, speed: float) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": answer.read_floor_ms(weights, kv, speed)}

    return Case(
        f"{weights / 1e9:g} GB of weights, {kv / 1e9:g} GB of cache, {speed / 1e12:g} TB/s", run
    )


BYTES = Exercise(
    id="ex01-bytes",
    names=("cache_bytes", "read_floor_ms"),
    cases=_bytes_cases,
    reference=answers(cache_bytes, read_floor_ms),
    mutants=(
        Mutant(
            "one-token",
            "only one token is counted: each has a key and a value of its own",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * n * h * d * b),
        ),
        Mutant(
            "one-number",
            "head_dim is left out: a key is a vector of head_dim numbers",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * h * b),
        ),
        Mutant(
            "kibibytes",
            "the result is in KiB: give bytes",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * h * d * b / 1024),
        ),
        Mutant(
            "keys-only",
            "only the keys are counted: the values are cached as well",
            answers(cache_bytes=lambda t, n, h, d, b: t * n * h * d * b),
        ),
        Mutant(
            "one-layer",
            "only one layer is counted: every layer has its own cache",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * h * d * b),
        ),
        Mutant(
            "one-head",
            "only one head is counted",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * d * b),
        ),
        Mutant(
            "numbers",
            "numbers are counted in place of bytes",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * h * d),
        ),
        Mutant(
            "cache-only",
            "the weights are left out: every decoded token reads them, too",
            answers(read_floor_ms=lambda w, kv, s: 1000 * kv / s),
        ),
        Mutant(
            "weights-only",
            "the cache is left out of what is read",
            answers(read_floor_ms=lambda w, kv, s: 1000 * w / s),
        ),
        Mutant(
            "seconds",
            "the result is in seconds, not in milliseconds",
            answers(read_floor_ms=lambda w, kv, s: (w + kv) / s),
        ),
    ),
)

# ex08-shift: a buffer that shifts, its bug, and its cost


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
