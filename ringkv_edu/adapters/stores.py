"""Where one layer's keys and values lie, when it is a TorchRing.

A store takes tokens of a batch, is told which of them are padding, and gives what it holds as
tensors. `any_ring` has the same for rings of other classes.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch

from ..torch_inputs import check_rewind
from ..torch_ring import TorchRing
from ..visibility import sees

__all__ = ["Native", "Store", "alike", "fronted"]

Tensor = torch.Tensor


class Store(Protocol):
    """What a layer of the cache asks of its store."""

    @property
    def ring(self) -> Any:
        """The ring, or a list of one for each row."""

    @property
    def rings(self) -> list[Any]:
        """The ring in a list, or one for each row."""

    @property
    def seen(self) -> Tensor:
        """Tokens that each row has been given, padding aside: (batch,)."""

    def append(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        """Store the tokens of ``real`` (batch, n), or all of ``k`` (batch, kv_heads, n, d)."""

    def held(self) -> tuple[Tensor, Tensor, Tensor]:
        """Give keys and values (batch, kv_heads, slots, d) and positions (batch, slots)."""

    def newest(self, positions: Tensor) -> Tensor:
        """Say which of the positions held the newest token of each row sees: (batch, slots)."""

    def bare(self, start: int, tokens: int) -> bool:
        """Say whether ``tokens`` more, none padding, surely need no mask but the causal one."""

    def fits(self, k: Tensor) -> bool:
        """Say whether keys are of the batch, heads, width, dtype and device stored here."""

    def reset(self) -> None:
        """Forget every token."""

    def reorder(self, rows: Tensor) -> None:
        """Put a copy of row ``rows[i]`` at place i."""

    def select(self, rows: Tensor) -> None:
        """Keep copies of some rows, in the order given; repeats are allowed."""

    def check_rewind(self, n: int | Tensor) -> None:
        """Raise, when it can be known, if the newest n tokens cannot be taken back."""

    def rewind(self, n: int | Tensor) -> None:
        """Take back the newest n tokens of every row, or of each: an int or (batch,)."""


def alike(own: Tensor, k: Tensor) -> bool:
    """Say whether two tensors (batch, kv_heads, n, head_dim) differ in n and content alone."""
    shape = own.shape[:2] == k.shape[:2] and own.shape[3:] == k.shape[3:]
    return shape and own.dtype == k.dtype and own.device == k.device


def fronted(x: Tensor, real: Tensor) -> Tensor:
    """Put the tokens of ``real`` (batch, n) first, in their order: x (batch, kv_heads, n, d)."""
    if x.shape[2] == 1:
        return x
    order = (~real).to(torch.int8).argsort(dim=1, stable=True)
    return x.gather(2, order[:, None, :, None].expand_as(x))


class Native:
    """A TorchRing: rows of different lengths are its own business, padding is never stored."""

    def __init__(self, ring: TorchRing) -> None:
        self.ring = ring

    @property
    def rings(self) -> list[Any]:
        """The ring in a list."""
        return [self.ring]

    @property
    def seen(self) -> Tensor:
        """Tokens that each row has been given, padding aside: (batch,)."""
        return self.ring.seen

    def append(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        """Store the tokens of ``real``, or all; the others come last and are not stored."""
        if real is None:
            self.ring.append(k, v)
        else:
            self.ring.append(fronted(k, real), fronted(v, real), lengths=real.sum(1))

    def held(self) -> tuple[Tensor, Tensor, Tensor]:
        """Give views of the slots that may hold something."""
        ring = self.ring
        top = ring.slots if ring._hidden() else ring._bounds.top
        return ring.keys[:, :, :top], ring.values[:, :, :top], ring.positions[:, :top]

    def newest(self, positions: Tensor) -> Tensor:
        """Say what the newest token of each row sees, by the one rule."""
        ring = self.ring
        mask: Tensor = sees(ring.seen[:, None] - 1, positions, ring.window, ring.sinks)
        return mask

    def bare(self, start: int, tokens: int) -> bool:
        """Say yes for a first chunk that no window cuts, and for one token over full slots."""
        ring, bounds = self.ring, self.ring._bounds
        if ring._hidden():
            return False
        reach = ring.window + ring.sinks
        if tokens > 1:
            return start == 0 and bounds.top == 0 and tokens <= reach
        return bounds.bare(tokens) > 0

    def fits(self, k: Tensor) -> bool:
        """Say whether keys can be stored here."""
        return alike(self.ring.keys, k)

    def reset(self) -> None:
        """Forget every token; the storage stays where it is."""
        self.ring.reset()

    def reorder(self, rows: Tensor) -> None:
        """Put a copy of row ``rows[i]`` at place i, in place."""
        self.ring.reorder(rows)

    def select(self, rows: Tensor) -> None:
        """Keep copies of some rows, in a new ring."""
        self.ring = self.ring.select(rows)

    def check_rewind(self, n: int | Tensor) -> None:
        """Raise ``RewindError`` when tokens cannot be taken back; values on the host alone."""
        check_rewind(n, self.ring)

    def rewind(self, n: int | Tensor) -> None:
        """Take tokens back."""
        self.ring.rewind(n)
