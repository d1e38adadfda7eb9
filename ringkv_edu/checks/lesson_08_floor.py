"""Lesson 08: the least time of a decode step, and the tokens that it gives in a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .lesson_08_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["FLOOR"]

Lengths = Sequence[int]
Read = Callable[[float, float, int | None, Lengths], float]  # weights, token, window, lengths


def step_seconds(
    weights: float, token: float, window: int | None, lengths: Lengths, bandwidth: float
) -> float:
    """Give the least time of a step: the weights are read once, each request's cache once."""
    return _read(weights, token, window, lengths) / bandwidth


def tokens_a_second(
    weights: float, token: float, window: int | None, lengths: Lengths, bandwidth: float
) -> float:
    """Give the most tokens a second: a step gives one to each request."""
    return len(lengths) / step_seconds(weights, token, window, lengths, bandwidth)


def _held(tokens: int, window: int | None) -> int:
    return tokens if window is None else min(tokens, window)


def _read(weights: float, token: float, window: int | None, lengths: Lengths) -> float:
    return weights + token * sum(_held(n, window) for n in lengths)


def _with(read: Read) -> dict[str, Any]:
    """Read other bytes; the throughput follows, as it would in a learner's cell."""

    def step(w: float, t: float, window: int | None, lengths: Lengths, bandwidth: float) -> float:
        return read(w, t, window, lengths) / bandwidth

    def rate(w: float, t: float, window: int | None, lengths: Lengths, bandwidth: float) -> float:
        return len(lengths) / step(w, t, window, lengths, bandwidth)

    return answers(step_seconds=step, tokens_a_second=rate)


def _held_as(held: Callable[[int, int | None], float]) -> dict[str, Any]:
    return _with(lambda w, t, window, lengths: w + t * sum(held(n, window) for n in lengths))


def _rate(count: Callable[[Lengths], float]) -> dict[str, Any]:
    return answers(
        tokens_a_second=lambda w, t, window, lengths, bandwidth: (
            count(lengths) / step_seconds(w, t, window, lengths, bandwidth)
        )
    )


def _milliseconds(*args: Any) -> float:
    return 1e3 * step_seconds(*args)


def _a_tokens_time(*args: Any) -> float:
    return 1 / tokens_a_second(*args)


def _product(w: float, t: float, window: int | None, lengths: Lengths, bandwidth: float) -> float:
    return len(lengths) * step_seconds(w, t, window, lengths, bandwidth)


def _cases(rng: Random) -> list[Case]:
    asked = [
        "1000, 10, None, [100], 1000",
        "1000, 10, None, [100, 300, 50], 500",
        "1000, 10, 40, [100, 300, 20], 500",
        "0, 4, 8, [3, 9, 9, 1], 64",
        "600, 2, 5, [5, 6], 100",
        "SEVEN.weights, 512 * KIB, None, [32768], CARD.bandwidth",
        "SEVEN.weights, 512 * KIB, 1024, [16384, 700, 9000], CARD.bandwidth",
    ]
    lengths = [rng.randrange(5, 30), *(rng.randrange(60, 900) for _ in range(3))]
    rng.shuffle(lengths)
    sizes = f"{rng.randrange(1, 90) * 1000}, {rng.randrange(2, 40)}"
    asked.append(f"{sizes}, {rng.randrange(32, 60)}, {lengths}, {rng.randrange(1, 9) * 1000}")
    names = ("step_seconds", "tokens_a_second")
    return [call_case(f"{name}({one})", name) for name in names for one in asked]


FLOOR = Exercise(
    id="bg3-floor",
    names=("step_seconds", "tokens_a_second"),
    cases=_cases,
    reference=answers(step_seconds, tokens_a_second),
    mutants=(
        Mutant(
            "weights-left-out",
            "the weights are left out: every step reads them, however short the texts are",
            _with(lambda w, t, window, lengths: _read(0, t, window, lengths)),
        ),
        Mutant(
            "weights-for-each",
            "the weights are read for each request: one reading serves the whole batch",
            _with(lambda w, t, window, lengths: _read(w * len(lengths), t, window, lengths)),
        ),
        Mutant(
            "one-cache",
            "one request's cache is read: each request has its own",
            _with(lambda w, t, window, lengths: _read(w, t, window, lengths[:1])),
        ),
        Mutant(
            "longest-alone",
            "the longest request's cache is read alone: all of them come through the same memory",
            _with(lambda w, t, window, lengths: _read(w, t, window, [max(lengths)])),
        ),
        Mutant(
            "padded",
            "every request is counted as long as the longest: each reads what it has",
            _with(lambda w, t, window, lengths: _read(w, t, window, [max(lengths)] * len(lengths))),
        ),
        Mutant(
            "no-window",
            "whole texts are read: with a window no more than W tokens of each",
            _held_as(lambda n, window: n),
        ),
        Mutant(
            "always-w",
            "W tokens are read of every request: a shorter one has no more than it has",
            _held_as(lambda n, window: n if window is None else window),
        ),
        Mutant(
            "larger-of-both",
            "the larger of text and window is read: a step reads W tokens at most",
            _held_as(lambda n, window: n if window is None else max(n, window)),
        ),
        Mutant(
            "without-itself",
            "W - 1 tokens are read: W counts the newest one, and it is stored before it attends",
            _held_as(lambda n, window: n if window is None else min(n, window - 1)),
        ),
        Mutant(
            "one-window-for-all",
            "the window is laid over all requests together: each has its own",
            _with(lambda w, t, window, lengths: w + t * _held(sum(lengths), window)),
        ),
        Mutant(
            "milliseconds",
            "the time is in milliseconds: give seconds",
            answers(step_seconds=_milliseconds),
        ),
        Mutant(
            "steps-a-second",
            "steps a second are given: a step gives a token to each request",
            _rate(lambda lengths: 1),
        ),
        Mutant(
            "old-tokens",
            "the tokens that are there already are counted: a step gives one to each request",
            _rate(sum),
        ),
        Mutant(
            "seconds-a-token",
            "seconds a token are given: ask how many tokens come in a second",
            answers(tokens_a_second=_a_tokens_time),
        ),
        Mutant(
            "multiplied",
            "requests and seconds are multiplied: divide, to have tokens a second",
            answers(tokens_a_second=_product),
        ),
    ),
)
