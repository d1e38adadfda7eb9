"""Caches that take chunks: they tell what each token sees, or the mean of its values."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

__all__ = ["ALL", "ORDERS", "means", "steps"]

ALL = range(1000)
Seen = list[Any]
Fault = Callable[[Seen, int, int], Seen]


def _cut(text: Seen, window: int, later: int) -> Seen:
    return text[max(0, len(text) - window, len(text) + later - window) :]


# (the text so far, window, tokens of the chunk that come later) -> what its last token sees
FAULTS: dict[str, Fault] = {
    "one more": lambda text, window, later: text[-window - 1 :],
    "one less": lambda text, window, later: text[max(0, len(text) - window + 1) :],
    "not itself": lambda text, window, later: text[-window - 1 : -1],
    "nothing": lambda text, window, later: [],
    "itself alone": lambda text, window, later: text[-1:],
    "zeros for empty slots": lambda text, window, later: (
        [0.0] * max(0, window - len(text)) + text[-window:]
    ),
    "cut": _cut,
    "cut, never empty": lambda text, window, later: _cut(text, window, later) or text[-1:],
}
ORDERS: dict[str, Callable[[Seen], Any]] = {
    "oldest first": list,
    "newest first": lambda seen: seen[::-1],
    "as slots": lambda seen: seen[1:] + seen[:1],
    "set": set,
    "tuple": tuple,
}


def steps(
    fault: str = "",
    windows: Container[int] = ALL,
    positions: Container[int] = ALL,
    chunks: Container[int] = ALL,
    starts: Container[int] = ALL,
    order: str = "oldest first",
) -> type:
    """Make a class with `step(tokens)`.

    The fault shows for these windows, at these positions, in chunks of these sizes that begin at
    these positions.
    """

    class Version:
        def __init__(self, window: int) -> None:
            self._window = window
            self._text: Seen = []

        def step(self, tokens: Sequence[Any]) -> list[Any]:
            rows, start, n = [], len(self._text), len(tokens)
            here = self._window in windows and n in chunks and start in starts
            for row, token in enumerate(tokens):
                self._text.append(token)
                seen = self._text[-self._window :]
                if fault and here and start + row in positions:
                    seen = FAULTS[fault](self._text, self._window, n - row - 1)
                rows.append(ORDERS[order](seen))
            return rows

    return Version


def means(
    fault: str = "",
    windows: Container[int] = ALL,
    positions: Container[int] = ALL,
    starts: Container[int] = ALL,
    weights: bool = False,
) -> type:
    """Make a class with `step(values)`; with `weights`, it rounds as a sum of weighted values."""
    inside = steps(fault, windows, positions, ALL, starts)

    class Version:
        def __init__(self, window: int) -> None:
            self._cache = inside(window)

        def step(self, values: Sequence[float]) -> list[float]:
            return [_mean(row, weights) for row in self._cache.step(values)]

    return Version


def _mean(seen: Seen, weights: bool) -> float:
    if not seen:
        return float("nan")
    if weights:
        return float(sum(value * (1 / len(seen)) for value in seen))
    return float(sum(seen) / len(seen))
