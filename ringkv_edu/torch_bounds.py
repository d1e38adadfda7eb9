"""What the host knows of a ring's rows without asking the device.

Bounds, which spare a decode step its mask once every slot is full, the empty slots before, and the
arithmetic of slots while all rows have the same length. They are never more than a help: cursors
and positions on the device are right without them. A step that is compiled or captured runs again
without this code, so nothing is known after one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

__all__ = ["Bounds", "hidden"]


def hidden(x: torch.Tensor) -> bool:
    """Say whether a step on this tensor is being compiled or captured: then nothing is known."""
    if torch.compiler.is_compiling():
        return True
    return x.is_cuda and torch.cuda.is_current_stream_capturing()


class Bounds:
    """Follows the rows of one ring of ``slots`` slots.

    ``missing``: how many more tokens a row may need until all its slots are full. ``reach``: the
    first slots, behind which nothing has been written in any row. ``cursor``: the length of every
    row where all are known to have lived the same life, else None; ``peak``, the most it has been.
    """

    def __init__(self, slots: int) -> None:
        self.slots, self.missing, self.reach, self.known = slots, slots, 0, True
        self.cursor: int | None = 0
        self.peak = 0

    def stored(self, n: int, every_row: bool) -> None:
        """Note that n tokens were stored, by every row or by some."""
        if every_row:
            self.missing = max(0, self.missing - n)
        self.reach = min(self.slots, self.reach + n)
        if self.cursor is not None:
            self.cursor = self.cursor + n if every_row else None
            self.peak = max(self.peak, self.cursor or 0)

    def taken_back(self, n: int | None) -> None:
        """Note that n tokens of each row were taken back, or None: some, nobody knows how many."""
        self.missing = self.slots if n is None else min(self.slots, self.missing + n)
        if self.cursor is not None:
            self.cursor = None if n is None else max(0, self.cursor - n)

    def emptied(self, every_row: bool) -> None:
        """Note that rows start again."""
        self.missing = self.slots
        if every_row:
            self.reach = self.peak = 0
        self.cursor = 0 if every_row else None

    def held(self, sinks: int) -> npt.NDArray[np.int64] | None:
        """Give the positions that every row holds, if the host knows them."""
        if not self.known or self.cursor is None:
            return None
        oldest = max(sinks, self.peak - (self.slots - sinks))  # older ones are overwritten
        kept = range(min(sinks, self.cursor)), range(oldest, self.cursor)
        return np.array([*kept[0], *kept[1]], np.int64)

    def lose(self) -> None:
        """Note that the rows change without a word from now on."""
        self.known = False

    @property
    def full(self) -> bool:
        """Whether every slot of every row is known to hold a position."""
        return self.known and self.missing == 0

    @property
    def top(self) -> int:
        """How many slots, from the first on, may hold something."""
        return self.reach if self.known else self.slots

    def joined(self, others: list[Bounds]) -> Bounds:
        """Give bounds that hold for the rows of several rings of this size."""
        made = Bounds(self.slots)
        made.missing = max(b.missing if b.known else b.slots for b in others)
        made.reach = max(b.top for b in others)
        lives = {(b.cursor, b.peak) if b.known else (None, 0) for b in others}
        made.cursor, made.peak = lives.pop() if len(lives) == 1 else (None, 0)
        return made
