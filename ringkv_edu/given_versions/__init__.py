"""Caches to try a test of lesson 10 on: right ones, and ones with a fault at a chosen place.

A right one is right by construction and slow: it keeps the whole text, and gives its end. None is
a mended toy. A fault is named by a text; ranges say where it shows.
"""

from __future__ import annotations

from .batches import kept, padded, pools
from .drawn import drawn
from .feed import fed, in_order, tried
from .reads import masks, reads, saves
from .steps import means, steps

__all__ = [
    "drawn",
    "fed",
    "in_order",
    "kept",
    "masks",
    "means",
    "padded",
    "pools",
    "reads",
    "saves",
    "steps",
    "tried",
]
