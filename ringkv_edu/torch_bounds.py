"""What the host knows of a ring's rows without asking the device.

Bounds, which spare a decode step its mask once every slot is full, the empty slots before, and the
arithmetic of slots while all rows have the same length. They are never more than a help: cursors
and positions on the device are right without them. A step that is compiled or captured runs again
without this code, so nothing is known after one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch

__all__ = ["Bounds", "apart", "hidden", "without_gradients"]

Method = TypeVar("Method", bound=Callable[..., Any])


def hidden(x: torch.Tensor) -> bool:
    """Say whether a step on this tensor is being compiled or captured: then nothing is known."""
    if torch.compiler.is_compiling():
        return True
    return x.is_cuda and torch.cuda.is_current_stream_capturing()


def apart(x: torch.Tensor, *stored: torch.Tensor) -> torch.Tensor:
    """Give a tensor, or a copy of it where it may share memory with what a step writes."""
    if torch.compiler.is_compiling():
        return x.clone()
    here = x.data_ptr()
    for storage in stored:
        first = storage.data_ptr()
        if first <= here < first + storage.nbytes:
            return x.clone()
    return x


def without_gradients(method: Method) -> Method:
    """Run a method without gradients; where there are none anyway, that costs nothing."""

    @wraps(method)
    def run(*args: Any, **named: Any) -> Any:
        if not torch.is_grad_enabled():
            return method(*args, **named)
        with torch.no_grad():
            return method(*args, **named)

    return cast(Method, run)


class Bounds:
    """Follows the rows of one ring of ``slots`` slots, ``sinks`` of them for sinks.

    ``missing``: how many more tokens a row may need until all its slots are full. ``reach``: the
    first slots, behind which nothing has been written in any row. ``cursor``: the length of every
    row where all are known to have lived the same life, else None; ``first``: the oldest position
    behind the sinks that they then hold.
    """

    def __init__(self, slots: int, sinks: int) -> None:
        self.slots, self.sinks, self.known = slots, sinks, True
        self.missing, self.reach = slots, 0
        self.cursor: int | None = 0
        self.first = sinks

    def stored(self, n: int, every_row: bool) -> None:
        """Note that n tokens were stored, by every row or by some."""
        if every_row:
            self.missing = max(0, self.missing - n)
        self.reach = min(self.slots, self.reach + n)
        if self.cursor is not None:
            self.cursor = self.cursor + n if every_row else None
        if self.cursor is not None:
            self.first = max(self.first, self.cursor - (self.slots - self.sinks))

    def taken_back(self, n: int | None) -> None:
        """Note that n tokens of each row were taken back, or None: some, nobody knows how many."""
        self.missing = self.slots if n is None else min(self.slots, self.missing + n)
        if self.cursor is not None:
            self.cursor = None if n is None else max(0, self.cursor - n)
        if self.cursor is not None:
            self.first = min(self.first, max(self.cursor, self.sinks))

    def emptied(self, every_row: bool) -> None:
        """Note that rows start again."""
        self.missing = self.slots
        if every_row:
            self.reach = 0
        self.cursor = 0 if every_row else None
        self.first = self.sinks

    def held(self) -> npt.NDArray[np.int64] | None:
        """Give the positions that every row holds, if the host knows them."""
        if not self.known or self.cursor is None:
            return None
        sunk, rolling = range(min(self.sinks, self.cursor)), range(self.first, self.cursor)
        return np.array([*sunk, *rolling], np.int64)

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
        made = Bounds(self.slots, self.sinks)
        made.missing = max(b.missing if b.known else b.slots for b in others)
        made.reach = max(b.top for b in others)
        lives = {(b.cursor, b.first) if b.known else (None, 0) for b in others}
        made.cursor, made.first = lives.pop() if len(lives) == 1 else (None, 0)
        return made
