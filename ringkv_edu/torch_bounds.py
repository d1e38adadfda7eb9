"""What the host knows of a ring's rows without asking the device.

Two bounds, which spare a decode step its mask once every slot is full, and the empty slots before.
They are never more than bounds: a mask from the stored positions is right without them. A step that
is compiled or captured runs again without this code, so nothing is known after one.
"""

from __future__ import annotations

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
    first slots, behind which nothing has been written in any row.
    """

    def __init__(self, slots: int) -> None:
        self.slots, self.missing, self.reach, self.known = slots, slots, 0, True

    def stored(self, n: int, every_row: bool) -> None:
        """Note that n tokens were stored, by every row or by some."""
        if every_row:
            self.missing = max(0, self.missing - n)
        self.reach = min(self.slots, self.reach + n)

    def taken_back(self, n: int) -> None:
        """Note that at most n tokens of each row were taken back: so many are missing again."""
        self.missing = min(self.slots, self.missing + n)

    def emptied(self, every_row: bool) -> None:
        """Note that rows start again."""
        self.missing = self.slots
        if every_row:
            self.reach = 0

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
        return made
