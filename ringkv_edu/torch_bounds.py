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

from .visibility import slot_of

__all__ = ["Bounds", "apart", "hidden", "without_gradients"]

Method = TypeVar("Method", bound=Callable[..., Any])


def hidden(x: torch.Tensor) -> bool:
    """Say whether a step on this tensor may be done again without its Python.

    So it is when it is compiled, traced or captured, and when somebody watches torch's operations
    (a dispatch mode). Then nothing that the host knows may decide anything.
    """
    if torch.compiler.is_compiling():
        return True
    if torch._C._len_torch_dispatch_stack() or torch._C._is_tracing():
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
    """Run a ring's method without gradients and without autocast, which would change its dtype.

    Where neither is on, that costs next to nothing.
    """

    @wraps(method)
    def run(ring: Any, *args: Any, **named: Any) -> Any:
        kind = "cpu" if ring.keys.is_cpu else "cuda"
        if torch.is_autocast_enabled(kind):
            with torch.no_grad(), torch.autocast(kind, enabled=False):
                return method(ring, *args, **named)
        if not torch.is_grad_enabled():
            return method(ring, *args, **named)
        with torch.no_grad():
            return method(ring, *args, **named)

    return cast(Method, run)


class Bounds:
    """Follows the rows of one ring of ``slots`` slots, some of them for sinks, some slack.

    ``missing``: how many more tokens a row may need until all its slots are full. ``reach``: the
    first slots, behind which nothing has been written in any row. ``cursor``: the length of every
    row where all are known to have lived the same life, else None; ``first``: the oldest position
    behind the sinks that they then hold.
    """

    def __init__(self, slots: int, sinks: int, slack: int) -> None:
        self.slots, self.sinks, self.slack, self.known = slots, sinks, slack, True
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

    def bare(self, more: int = 0) -> int:
        """Give how many first slots the newest token sees all of, and no others; 0: not known.

        With ``more`` tokens stored by every row, if so many are to come.
        """
        if not self.known:
            return 0
        if self.cursor is not None and self.first == self.sinks:  # nothing has been overwritten
            length = self.cursor + more
            if length <= self.slots - self.slack:
                return length
        return self.slots if self.missing <= more and self.slack == 0 else 0

    def near(self, unseen: bool) -> tuple[int, bool]:
        """Give how many first slots to read, and whether they need no mask.

        ``unseen``: nobody may look, since the step is compiled or captured.
        """
        if unseen or not self.known:
            return self.slots, False
        bare = self.bare()
        return bare or max(1, self.reach), bare > 0

    def slot_of(self, position: int) -> int:
        """Name the slot of a position."""
        return slot_of(position, self.slots - self.sinks, self.sinks)

    @property
    def top(self) -> int:
        """How many slots, from the first on, may hold something."""
        return self.reach if self.known else self.slots

    def join(self, others: list[Bounds]) -> None:
        """Take over what is known of the rows of several rings of this kind."""
        self.missing = max(b.missing if b.known else b.slots for b in others)
        self.reach = max(b.top for b in others)
        lives = {(b.cursor, b.first) if b.known else (None, 0) for b in others}
        self.cursor, self.first = lives.pop() if len(lives) == 1 else (None, 0)
