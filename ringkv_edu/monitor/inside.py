"""Looks inside a step: scores, where attention goes, what keys and values are like.

That costs time, so it is done at some steps only, and those steps are not timed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from ..evaluate.mass import Looker, watching

__all__ = ["inside", "wrapped"]

Tensor = torch.Tensor


class Seen:
    """A layer's cache, with a look at what goes in and at the attention."""

    def __init__(self, cache: Any, first: int) -> None:
        self.cache, self.looker = cache, Looker(first)
        self.keys: list[float] = []
        self.values: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cache, name)

    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Do what the cache does, and note what was seen."""
        self.keys, self.values = spread(k), spread(v)
        with watching(self.looker):
            out: Tensor = self.cache.step(q, k, v)
        return out


def spread(x: Tensor) -> list[float]:
    """Give mean, standard deviation and largest magnitude of some keys or values."""
    wide = x.double()
    return [float(wide.mean()), float(wide.std(correction=0)), float(wide.abs().max())]


def wrapped(caches: Sequence[Any], first: int) -> list[Seen]:
    """Put something that looks around each layer's cache."""
    return [Seen(cache, first) for cache in caches]


def inside(layers: Sequence[Seen]) -> dict[str, Any]:
    """Give what was seen, a list with an entry a layer each.

    ``peaks``: the largest score; ``weights``: the largest weight; ``keys`` and ``values``: mean,
    standard deviation and largest magnitude; ``mass``: shares of sinks, window and summaries.
    """
    masses = [layer.looker.mass for layer in layers]
    return {
        "peaks": [_number(layer.looker.peak) for layer in layers],
        "weights": [_number(layer.looker.weight) for layer in layers],
        "mass": [None if mass is None else list(mass) for mass in masses],
        "keys": [layer.keys for layer in layers],
        "values": [layer.values for layer in layers],
    }


def _number(x: float) -> float | None:
    """Give a number, NaN included; None for the minus infinity of what was never seen."""
    return None if x == -math.inf else x
