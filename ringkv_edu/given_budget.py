"""What lesson 08 is given: shapes of models and a card, as plain data. Nothing here reckons.

Sizes are in bytes, speeds in bytes a second; KiB, MiB and GiB are powers of two, GB is 10^9. Where
the figures are printed, ``ringkv_edu.budget_presets`` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "CARD", "GB", "GEMMA", "GIB", "KIB", "MIB", "SEVEN", "THIRTEEN", "Card", "Shape",
]  # fmt: skip

KIB, MIB, GIB, GB = 2**10, 2**20, 2**30, 10**9


@dataclass(frozen=True, repr=False)
class Shape:
    """A decoder: each layer's window (None sees everything), its heads, the bytes of its weights.

    ``heads`` ask; ``kv_heads`` of them have keys and values, of ``head_dim`` numbers each.
    """

    windows: Sequence[int | None]
    heads: int
    kv_heads: int
    head_dim: int
    weights: int = 0

    def __repr__(self) -> str:
        return f"<{len(self.windows)} layers, {self.heads} heads, {self.kv_heads} kv_heads>"


@dataclass(frozen=True)
class Card:
    """A device: its memory in bytes, and how many bytes it reads a second at best."""

    memory: float
    bandwidth: float


SEVEN = Shape((None,) * 32, 32, 32, 128, 13_476_831_232)
"""Llama 2 7B, its weights in fp16."""

THIRTEEN = Shape((None,) * 40, 40, 40, 128, 26_000_000_000)
"""Llama 2 13B, with the 26 GB that the second article gives it."""

GEMMA = Shape((*((1024,) * 5 + (None,)) * 5, *(1024,) * 4), 8, 4, 256, 7_768_000_000)
"""Gemma 3 4B: five sliding layers before each global one; 5 of 34 are global."""

CARD = Card(80 * GB, 1000 * GB)
"""80 GB at 1 TB/s, as the articles reckon."""
