"""Lesson 10, case 5: a mended flag, and mends that move the bug."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..given_cases import TextFlag

Saved = tuple[list[Any], dict[str, Any]]


class Mended(TextFlag):
    """Compares the text; ``text`` and ``flag`` are where mutants differ."""

    def save(self) -> Saved:
        """Give the slots and the header."""
        slots, header = super().save()
        return slots, {**header, "rotated": self.text()}

    @classmethod
    def load(cls, saved: Saved) -> Mended:
        """Make a cache from what ``save`` gave."""
        slots, header = saved
        cache = cls(int(header["window"]))
        cache.slots, cache.index = slots[:], cls.place(header)
        cache.rotated = cls.flag(header, slots)
        return cache

    def text(self) -> Any:
        """Give the flag as it is saved."""
        return str(self.rotated)

    @classmethod
    def flag(cls, header: dict[str, Any], slots: list[Any]) -> bool:
        """Read the flag."""
        return bool(header["rotated"] == "True")

    @classmethod
    def place(cls, header: dict[str, Any]) -> int:
        """Read the index."""
        return int(header["index"])


def flagged(flag: Callable[[dict[str, Any], list[Any]], bool]) -> type[Mended]:
    """Make a mend that reads the flag in another way."""

    class Changed(Mended):
        @classmethod
        def flag(cls, header: dict[str, Any], slots: list[Any]) -> bool:
            return flag(header, slots)

    return Changed


class NoText(Mended):
    """The flag is saved as it is."""

    def text(self) -> Any:
        """Give True or False."""
        return self.rotated

    @classmethod
    def flag(cls, header: dict[str, Any], slots: list[Any]) -> bool:
        """Take it."""
        return bool(header["rotated"])


class FromZero(Mended):
    """The index is not loaded."""

    @classmethod
    def place(cls, header: dict[str, Any]) -> int:
        """Begin at slot 0."""
        return 0
