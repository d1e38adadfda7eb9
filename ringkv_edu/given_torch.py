"""What lesson 05 starts from: the memory of several rings in torch. Graded runs may read it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .given_numpy import numbers
from .problem import Problem

try:
    import torch
except ImportError:
    raise Problem(
        "This lesson needs torch. Install it in a terminal with "
        '`python -m pip install "ringkv-edu[torch]"`, then restart the kernel. '
        "Lessons 00 to 04 do without it."
    ) from None

__all__ = ["RingRows", "drawn", "filled_rows", "newest_sees", "put"]

Tensor = torch.Tensor


class RingRows:
    """The memory of several rings, one a row, and their cursors. Nothing here decides anything yet.

    ``keys``, ``values`` (batch, kv_heads, window, head_dim) float64, zeros; ``positions``
    (batch, window) int64, -1 where a slot is empty; ``seen`` (batch,) int64: the tokens of each
    row so far, so the position of its next one.
    """

    def __init__(
        self,
        batch: int,
        window: int,
        kv_heads: int = 1,
        head_dim: int = 2,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> None:
        self.window = window
        self.keys = torch.zeros(batch, kv_heads, window, head_dim, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.positions = torch.full((batch, window), -1, device=device)
        self.seen = torch.zeros(batch, dtype=torch.int64, device=device)

    def __repr__(self) -> str:
        return f"<rows {self.positions.tolist()}, seen {self.seen.tolist()}>"


def drawn(rng: Random, *shape: int) -> Tensor:
    """Draw a float64 tensor of numbers with one decimal, from -2 to 2, none of them 0."""
    return torch.from_numpy(numbers(rng, *shape))


def filled_rows(
    seen: Sequence[int], rng: Random, window: int, kv_heads: int = 1, head_dim: int = 2
) -> RingRows:
    """Give rows as they lie after so many tokens each."""
    rows = RingRows(len(seen), window, kv_heads, head_dim)
    for row, tokens in enumerate(seen):
        for position in range(max(0, tokens - window), tokens):
            slot = position % window
            rows.keys[row, :, slot] = drawn(rng, kv_heads, head_dim)
            rows.values[row, :, slot] = drawn(rng, kv_heads, head_dim)
            rows.positions[row, slot] = position
        rows.seen[row] = tokens
    return rows


def put(rows: RingRows, k: Tensor, v: Tensor) -> None:
    """Write one token a row: ``k``, ``v`` (batch, kv_heads, head_dim).

    Goes over every slot and keeps what is there, except in the slot whose turn it is. So it costs
    as much as the whole ring, and no number leaves the device.
    """
    slots = torch.arange(rows.window, device=rows.seen.device)
    here = slots == (rows.seen % rows.window)[:, None]
    for memory, new in ((rows.keys, k), (rows.values, v)):
        memory.copy_(torch.where(here[:, None, :, None], new[:, :, None], memory))
    rows.positions.copy_(torch.where(here, rows.seen[:, None], rows.positions))
    rows.seen += 1


def newest_sees(rows: RingRows) -> Tensor:
    """Say which slots the newest token of each row sees: (batch, window) bool."""
    newest = rows.positions.amax(1, keepdim=True)
    return (rows.positions > newest - rows.window) & (rows.positions >= 0)
