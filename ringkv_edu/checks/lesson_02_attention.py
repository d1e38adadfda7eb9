"""Lesson 02: attention with the steps in which the mutants differ left open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "attention", "root"]

Array = npt.NDArray[Any]


def root(keys: Array) -> float:
    """Give 1 / sqrt(head_dim)."""
    return float(keys.shape[-1] ** -0.5)


def attention(
    q: Array,
    keys: Array,
    values: Array,
    scale: Callable[[Array], float] = root,
    top: Callable[[Array], Any] = np.max,
    total: Callable[[Array], Any] = np.sum,
    seen: Array | None = None,
) -> Array:
    """Attend with one query over (slots, head_dim), with the steps that mutants change open.

    ``seen`` (slots,) bool, if given, is a mask: the other scores become minus infinity.
    """
    with np.errstate(all="ignore"):
        scores = keys @ q * scale(keys)
        if seen is not None:
            scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - top(scores))
        out: Array = weights / total(weights) @ values
    return out
