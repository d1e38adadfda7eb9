"""Bugs of what a query sees: window, mask, chunks, angles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...numpy_ring import Array, NumpyRing, masked_attention
from ...rope import rotate
from ...visibility import visibility_mask
from ..rotating import RotatingRing

__all__ = [
    "EightBits",
    "GroupsScattered",
    "LocalRows",
    "OneBound",
    "ShortTable",
    "SinksInside",
    "SinksLate",
    "SlackSeen",
    "SlotAngles",
    "StaleQuery",
    "TooWide",
    "Uninitialised",
    "WriteFirst",
]


class TooWide(NumpyRing):
    """The window is one too wide: the size handed on counts the keys to the left."""

    case = "1"

    def __init__(self, window: int, *sizes: Any, **named: Any) -> None:
        super().__init__(window + 1, *sizes, **named)


class SlackSeen(NumpyRing):
    """The mask is made from the capacity: slack slots are seen."""

    case = "1a"

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        return visibility_mask(queries, held, self.window + self.slack, self.sinks)


class SinksInside(NumpyRing):
    """With sinks and slack at once, the window is one too wide."""

    case = "1b"

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        wider = bool(self.sinks and self.slack)
        return visibility_mask(queries, held, self.window + wider, self.sinks)


class LocalRows(NumpyRing):
    """The rows of a chunk are numbered from 0, as if nothing came before it."""

    case = "5"

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        if len(queries) == 1:
            return super()._mask(queries, held)
        n = len(queries)
        band = visibility_mask(np.arange(n), np.arange(n), self.window)
        before = np.repeat(held[None, :-n] >= 0, n, axis=0)
        return np.concatenate([before, band], axis=1)


class WriteFirst(NumpyRing):
    """A chunk is written before it attends, with one causal bound over the slots."""

    case = "10"

    def step(self, q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
        """Write, then let every row see whatever the ring now holds."""
        self.append(k, v)
        held = np.repeat(self.positions[None] >= 0, q.shape[1], axis=0)
        by = self.keys.shape[2] ** -0.5 if scale is None else scale
        return masked_attention(q, self.keys, self.values, held, by)


class OneBound(NumpyRing):
    """Every row of a chunk gets the lower bound of the first one."""

    case = "13"

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        wide = visibility_mask(queries, held, self.window + len(queries) - 1, self.sinks)
        bound: npt.NDArray[np.bool_] = held > queries[0] - self.window
        return wide & bound


class SinksLate(NumpyRing):
    """Sinks are kept when tokens leave, and forgotten in the mask of a chunk."""

    case = "16"

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        return visibility_mask(queries, held, self.window, self.sinks if len(queries) == 1 else 0)


class EightBits(NumpyRing):
    """Query positions stop at 127, as if kept in eight bits; key positions go on."""

    case = "25"

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        return super()._mask(np.minimum(queries, 127), held)


class Uninitialised(NumpyRing):
    """Empty slots are masked, but their values are multiplied by a weight of 0."""

    case = "47"

    def _one(self, q: Array, scale: float) -> Array:
        mask = self._mask(np.array([self.seen - 1]), self.positions)
        return masked_attention(q, self.keys, self.values, mask, scale)


class StaleQuery(NumpyRing):
    """Asked once more, the query stands one position too late: the oldest key is left out."""

    case = "2a"

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Attend from the position after the newest."""
        mask = self._mask(np.array([self.seen]), self.positions)
        by = self.keys.shape[2] ** -0.5 if scale is None else scale
        return masked_attention(q[:, None], self.keys, self.values, mask, by)[:, 0]


class GroupsScattered(NumpyRing):
    """With more than two key/value heads, query head h reads head h % kv_heads."""

    case = "60"

    def step(self, q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
        """Sort the query heads to the wrong key/value heads."""
        heads = np.arange(len(q))
        order = np.argsort(heads % len(k), kind="stable") if len(k) > 2 else heads
        out = np.empty_like(q)
        out[order] = super().step(q[order], k, v, scale)
        return out


class ShortTable(RotatingRing):
    """Angles come from a table of 2 W rows, which is used again from its start."""

    case = "24"

    def _turned(self, x: Array, first: int) -> Array:
        rows = np.arange(first, first + x.shape[1]) % (2 * self.window)
        return rotate(x, rows)


class SlotAngles(RotatingRing):
    """Keys and queries are turned to their slot."""

    case = "24a"

    def _turned(self, x: Array, first: int) -> Array:
        return rotate(x, np.arange(first, first + x.shape[1]) % self.window)
