"""Lesson 08: what a window gains: in latency, in throughput, and from which length on."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Any

__all__ = ["first_length", "latency_gain", "throughput_gain"]


def latency_gain(weights: float, token: float, window: int, tokens: int, batch: int) -> float:
    """Give how many times shorter a step is with the window, at the same batch."""
    return _bytes(weights, token, tokens, batch) / _bytes(
        weights, token, min(tokens, window), batch
    )


def throughput_gain(
    weights: float, token: float, window: int, tokens: int, left: float
) -> float | None:
    """Give how many times more tokens a second come, each with as many requests as fit."""
    before, after = (int(left // (token * n)) for n in (tokens, min(tokens, window)))
    if not before:
        return None
    rates = [
        many / _bytes(weights, token, n, many)
        for many, n in ((before, tokens), (after, min(tokens, window)))
    ]
    return rates[1] / rates[0]


def first_length(
    weights: float, token: float, window: int, wanted: float, batch: int, most: int
) -> int | None:
    """Give the first length, up to ``most``, at which the latency gain is ``wanted``."""
    return _first(lambda n: latency_gain(weights, token, window, n, batch) >= wanted, most)


def _bytes(weights: float, token: float, tokens: float, batch: int) -> float:
    return weights + batch * token * tokens


def _first(holds: Callable[[int], bool], most: int) -> int | None:
    """Give the first number from 1 to ``most`` that holds; what holds once, holds above, too."""
    low, high = 1, most + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low if low <= most else None


def solved_length(
    weights: float,
    token: float,
    window: int,
    wanted: float,
    batch: int,
    most: int,
    rounded: Callable[[float], int] = ceil,
    read: Callable[[float, float], float] = lambda weights, ring: weights + ring,
) -> int | None:
    """Give the first length by solving for it: weights + batch x token x n = wanted x the ring."""
    ring = batch * token * window
    found = rounded((wanted * read(weights, ring) - weights) / (batch * token))
    return found if found <= most else None


Wanted = tuple[float, float, int, float, int, int]  # as ``solved_length`` has them, to ``most``


def rounded_down(*args: Any) -> int | None:
    """Give the length solved for, rounded the wrong way."""
    wanted: Wanted = args  # type: ignore[assignment]
    return solved_length(*wanted, rounded=floor)


def weights_only(*args: Any) -> int | None:
    """Give the length at which the step has grown by the factor against the weights alone."""
    wanted: Wanted = args  # type: ignore[assignment]
    return solved_length(*wanted, read=lambda weights, ring: weights)
