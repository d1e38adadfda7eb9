"""Lesson 10, case 8: a mended pool, and mends that move the bug."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..given_cases import Pool


class Mended(Pool):
    """Slides every window; ``slid`` and ``check`` are where mutants differ."""

    def step(self, work: Mapping[str, Sequence[Any]]) -> dict[str, list[list[Any]]]:
        """Take the next tokens of some sequences; give, for each, what its tokens see."""
        held = {name: self.slid(name, work) for name in {**self.held, **work}}
        self.check(sum(map(len, held.values())), sum(map(len, work.values())), held)
        self.held = held
        rows = {}
        for name, tokens in work.items():
            keys = [*held[name], *tokens]
            ends = range(len(held[name]) + 1, len(keys) + 1)
            rows[name] = [keys[max(0, end - self.window) : end] for end in ends]
            held[name] = keys
        return rows

    def slid(self, name: str, work: Mapping[str, Sequence[Any]]) -> list[Any]:
        """Give what a sequence holds before the step."""
        return self.held.get(name, [])[-self.window :]

    def check(self, held: int, new: int, sequences: dict[str, list[Any]]) -> None:
        """Refuse what does not fit."""
        if held + new > self.slots:
            raise RuntimeError("no slot is free")


class Emptied(Mended):
    """Those that wait lose all."""

    def slid(self, name: str, work: Mapping[str, Sequence[Any]]) -> list[Any]:
        """Give nothing for one that waits."""
        return super().slid(name, work) if name in work else []


class WaitingAlone(Mended):
    """Those that work are not cut."""

    def slid(self, name: str, work: Mapping[str, Sequence[Any]]) -> list[Any]:
        """Cut those that wait."""
        return self.held.get(name, []) if name in work else super().slid(name, work)


class NeverRefuses(Mended):
    """There is always room."""

    def check(self, held: int, new: int, sequences: dict[str, list[Any]]) -> None:
        """Refuse nothing."""


class NotExactly(Mended):
    """An exact fit is refused."""

    def check(self, held: int, new: int, sequences: dict[str, list[Any]]) -> None:
        """Ask for one more slot."""
        super().check(held, new + 1, sequences)


class NewAlone(Mended):
    """Only new tokens are counted."""

    def check(self, held: int, new: int, sequences: dict[str, list[Any]]) -> None:
        """Leave out what is held."""
        super().check(0, new, sequences)


class TooFew(Mended):
    """W - 2 tokens stay."""

    def slid(self, name: str, work: Mapping[str, Sequence[Any]]) -> list[Any]:
        """Cut too much."""
        held = self.held.get(name, [])
        return held[max(0, len(held) - max(0, self.window - 2)) :]


class StoresFirst(Mended):
    """A step that is refused has stored its tokens."""

    def step(self, work: Mapping[str, Sequence[Any]]) -> dict[str, list[list[Any]]]:
        """Store, then refuse."""
        try:
            return super().step(work)
        except RuntimeError:
            for name, tokens in work.items():
                self.held[name] = [*self.held.get(name, []), *tokens]
            raise
