"""Lesson 07: what global and sliding layers hold together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .lesson_07_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["BYTES"]

Windows = Sequence[int | None]


def held_bytes(windows: Windows, tokens: int, kv_heads: int, head_dim: int, number: int) -> int:
    """Count the bytes of keys and values in all layers after ``tokens`` tokens."""
    return int(_bytes(windows, tokens, 2 * kv_heads * head_dim * number))


def _bytes(
    windows: Windows,
    tokens: int,
    entry: float,
    slots: Callable[[int | None, int], int] = lambda w, tokens: tokens if w is None else w,
) -> Any:
    return sum(slots(window, tokens) for window in windows) * entry


def _with_slots(slots: Callable[[int | None, int], int]) -> dict[str, Any]:
    return answers(held_bytes=lambda w, t, h, d, b: _bytes(w, t, 2 * h * d * b, slots))


def _with_entry(entry: Callable[[int, int, int], float]) -> dict[str, Any]:
    return answers(held_bytes=lambda w, t, h, d, b: _bytes(w, t, entry(h, d, b)))


def _one_kind(windows: Windows, tokens: int, *sizes: int) -> int:
    return held_bytes([windows[0]] * len(windows), tokens, *sizes)


def _one_layer_each(windows: Windows, tokens: int, *sizes: int) -> int:
    return held_bytes(list(dict.fromkeys(windows)), tokens, *sizes)


def _bytes_cases(rng: Random) -> list[Case]:
    asked: list[tuple[list[int | None], int, int, int, int]] = [
        ([8, None], 100, 1, 1, 1), ([8, None], 3, 1, 1, 1), ([8, 8], 100, 2, 4, 2),
        ([None, None], 10, 2, 4, 2), ([None, 4, 16], 50, 2, 8, 4), ([8, None], 0, 1, 2, 2),
        ([1024] * 5 + [None], 32768, 4, 256, 2),
    ]  # fmt: skip
    layers: list[int | None] = [rng.randrange(2, 40) for _ in range(rng.randrange(2, 5))]
    layers.insert(rng.randrange(len(layers)), None)
    asked.append((layers, rng.randrange(50, 900), rng.choice([2, 4]), rng.choice([64, 96]), 2))
    return [call_case(f"held_bytes({', '.join(map(str, one))})", "held_bytes") for one in asked]


BYTES = Exercise(
    id="mo3-bytes",
    names=("held_bytes",),
    cases=_bytes_cases,
    reference=answers(held_bytes),
    mutants=(
        Mutant(
            "all-global",
            "every layer is thought to keep every token: a sliding one keeps its window",
            _with_slots(lambda w, tokens: tokens),
        ),
        Mutant(
            "globals-left-out",
            "the layers without a window are left out: they keep every token",
            _with_slots(lambda w, tokens: w or 0),
        ),
        Mutant(
            "filled-slots",
            "a ring is counted as far as it is filled: it takes all its slots before the first "
            "token",
            _with_slots(lambda w, tokens: tokens if w is None else min(w, tokens)),
        ),
        Mutant(
            "without-itself",
            "a ring is given W - 1 slots: the newest token needs one, too",
            _with_slots(lambda w, tokens: tokens if w is None else w - 1),
        ),
        Mutant(
            "larger-of-both",
            "a ring is thought to grow with the text: it holds W slots, however long that is",
            _with_slots(lambda w, tokens: tokens if w is None else max(w, tokens)),
        ),
        Mutant(
            "first-for-all",
            "every layer is counted like the first: each has its own window",
            answers(held_bytes=_one_kind),
        ),
        Mutant(
            "kinds",
            "layers of the same window are counted once: each layer has its own keys and values",
            answers(held_bytes=_one_layer_each),
        ),
        Mutant(
            "keys-alone",
            "only the keys are counted: values are kept, too",
            _with_entry(lambda h, d, b: h * d * b),
        ),
        Mutant(
            "one-head",
            "one key/value head is counted: there are kv_heads",
            _with_entry(lambda h, d, b: 2 * d * b),
        ),
        Mutant(
            "one-number",
            "head_dim is left out: a key is a vector of head_dim numbers",
            _with_entry(lambda h, d, b: 2 * h * b),
        ),
        Mutant(
            "numbers",
            "numbers are counted in place of bytes",
            _with_entry(lambda h, d, b: 2 * h * d),
        ),
        Mutant(
            "kibibytes",
            "the result is in KiB: give bytes",
            _with_entry(lambda h, d, b: 2 * h * d * b / 1024),
        ),
    ),
)
