"""Lesson 10, case 1: a mended class, and mends that move the bug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Mended:
    """One mask, for any number of tokens; ``sees`` and ``keep`` are where mutants differ."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.held: list[Any] = []

    def step(self, tokens: Sequence[Any]) -> list[list[Any]]:
        """Take the next tokens; give, for each, the tokens that it sees."""
        before = len(self.held)
        keys = [*self.held, *tokens]
        queries = range(before, len(keys))
        rows = [[keys[k] for k in range(q + 1) if self.sees(q, k, before)] for q in queries]
        self.held = keys[-self.keep() :]
        return rows

    def sees(self, query: int, key: int, before: int) -> bool:
        """Say whether a query sees a key; both are places, the chunk begins at ``before``."""
        return query - key < self.window

    def keep(self) -> int:
        """Give how many tokens stay."""
        return self.window


class OneLess(Mended):
    """The bound goes one too far."""

    def sees(self, query: int, key: int, before: int) -> bool:
        """Say it, wrongly."""
        return query - key < max(1, self.window - 1)


class BothWider(Mended):
    """Decode is widened to what the mask had."""

    def sees(self, query: int, key: int, before: int) -> bool:
        """Say it, wrongly."""
        return query - key <= self.window

    def keep(self) -> int:
        """Give how many tokens stay, wrongly."""
        return self.window + 1


class OneBound(Mended):
    """All rows of a chunk get the first one's bound."""

    def sees(self, query: int, key: int, before: int) -> bool:
        """Say it, wrongly."""
        return before - key < self.window


class ChunkAlone(Mended):
    """A chunk sees nothing of what came before it."""

    def sees(self, query: int, key: int, before: int) -> bool:
        """Say it, wrongly."""
        return query - key < self.window and (key >= before or query == before)


class Forgets(Mended):
    """One token too few stays for the next chunk."""

    def sees(self, query: int, key: int, before: int) -> bool:
        """Say it, wrongly."""
        return query - key < self.window

    def keep(self) -> int:
        """Give how many tokens stay, wrongly."""
        return max(1, self.window - 2)
