"""Lesson 10, case 6: a mended ring for padded batches, and mends that move the bug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = list[Any]


class Mended:
    """A cursor for each row; ``write`` and the others are where mutants differ."""

    def __init__(self, window: int, rows: int) -> None:
        self.window = window
        self.slots = self.storage(rows)
        self.written = [0] * rows
        self.columns = 0

    def step(self, chunk: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """Take a list of tokens for each row; None is padding and sees nothing."""
        seen: list[list[Row]] = [[] for _ in self.slots]
        for column in zip(*chunk, strict=True):
            for row, token in enumerate(column):
                if token is None:
                    seen[row] += self.padding(row)
                    continue
                self.write(row, token, column)
                seen[row].append(self.held(row))
            self.columns += self.moves(column)
        return seen

    def storage(self, rows: int) -> list[Row]:
        """Make the slots."""
        return [[None] * self.window for _ in range(rows)]

    def write(self, row: int, token: Any, column: Sequence[Any]) -> None:
        """Store one token."""
        self.slots[row][self.written[row] % self.window] = token
        self.written[row] += 1

    def held(self, row: int) -> Row:
        """Give what a row holds."""
        return [key for key in self.slots[row] if key is not None]

    def padding(self, row: int) -> list[Row]:
        """Give what padding sees."""
        return [[]]

    def moves(self, column: Sequence[Any]) -> bool:
        """Say whether the shared cursor moves on."""
        return True


class Columns(Mended):
    """All rows share a cursor, which counts columns."""

    def write(self, row: int, token: Any, column: Sequence[Any]) -> None:
        """Store one token, wrongly."""
        self.slots[row][self.columns % self.window] = token


class Together(Columns):
    """The shared cursor stops where a row has padding."""

    def moves(self, column: Sequence[Any]) -> bool:
        """Say whether the shared cursor moves on."""
        return None not in column


class Dropped(Mended):
    """Places of padding are left out."""

    def padding(self, row: int) -> list[Row]:
        """Give what padding sees, wrongly."""
        return []


class Unpadded(Mended):
    """Padding sees what its row holds."""

    def padding(self, row: int) -> list[Row]:
        """Give what padding sees, wrongly."""
        return [self.held(row)]


class OneList(Mended):
    """All rows share their slots."""

    def storage(self, rows: int) -> list[Row]:
        """Make the slots, wrongly."""
        return [[None] * self.window] * rows


class LongestRow(Mended):
    """All rows take the largest cursor."""

    def write(self, row: int, token: Any, column: Sequence[Any]) -> None:
        """Store one token, wrongly."""
        self.slots[row][max(self.written) % self.window] = token
        self.written[row] += 1


class SeesOld(Mended):
    """Nothing is overwritten."""

    def write(self, row: int, token: Any, column: Sequence[Any]) -> None:
        """Store one token, wrongly."""
        self.slots[row].append(token)
