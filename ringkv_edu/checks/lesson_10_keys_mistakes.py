"""Lesson 10, case 3: a mended buffer, and mends that move the bug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Mended:
    """Attends to everything, then cuts; ``sees`` and ``cut`` are where mutants differ."""

    def __init__(self, window: int) -> None:
        self.window, self.seen = window, 0
        self.held: list[tuple[int, float]] = []

    def step(self, values: Sequence[float]) -> list[float]:
        """Take the next values; give, for each, the mean of what it sees."""
        first, end = self.seen, self.seen + len(values)
        keys = self.gathered([*self.held, *zip(range(first, end), values, strict=True)], first)
        self.seen = end
        means = []
        for query in range(first, end):
            seen = [value for key, value in keys if self.sees(query, key, first)]
            means.append(sum(seen) / len(seen) if seen else self.empty(values[query - first]))
        self.held = self.cut(keys)
        return means

    def gathered(self, keys: list[Any], first: int) -> list[Any]:
        """Give what the chunk, which begins at ``first``, attends to."""
        return keys

    def sees(self, query: int, key: int, first: int) -> bool:
        """Say whether a query sees a key; the chunk begins at ``first``."""
        return 0 <= query - key < self.window

    def empty(self, own: float) -> float:
        """Give what a row without keys gives."""
        return float("nan")

    def cut(self, keys: list[Any]) -> list[Any]:
        """Give what stays."""
        return keys[-self.window :]


class Patched(Mended):
    """A row without keys sees itself."""

    def gathered(self, keys: list[Any], first: int) -> list[Any]:
        """Cut, as reported."""
        return keys[-self.window :]

    def empty(self, own: float) -> float:
        """Give the token's own value."""
        return own


class Zero(Patched):
    """A row without keys gives 0."""

    def empty(self, own: float) -> float:
        """Give 0."""
        return 0.0


class TwiceAsMany(Mended):
    """2 W keys stay."""

    def gathered(self, keys: list[Any], first: int) -> list[Any]:
        """Cut later."""
        return keys[-2 * self.window :]


class NeverCut(Mended):
    """Nothing is cut."""

    def cut(self, keys: list[Any]) -> list[Any]:
        """Keep all."""
        return keys


class Future(Mended):
    """A query sees later tokens of its chunk."""

    def sees(self, query: int, key: int, first: int) -> bool:
        """Leave causality out."""
        return query - key < self.window


class OneBound(Mended):
    """All rows get the first one's bound."""

    def sees(self, query: int, key: int, first: int) -> bool:
        """Ask the first row's lower bound."""
        return key <= query and first - key < self.window


class ChunkAlone(Mended):
    """The chunk is not cut, and what was held before it is lost."""

    def gathered(self, keys: list[Any], first: int) -> list[Any]:
        """Give the chunk alone when it is longer than the window."""
        own = [(key, value) for key, value in keys if key >= first]
        return own if len(own) > self.window else keys
