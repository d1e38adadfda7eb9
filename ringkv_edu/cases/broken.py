"""Known bugs rebuilt on our own ring, each in a few lines: what the cases are there to catch.

``ringkv cases ringkv_edu.cases.broken:WriteFirst`` shows one. Each class names, in ``case``, the
case that it breaks; others may fail with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..numpy_ring import Array, NumpyRing, _attention
from ..visibility import visibility_mask

__all__ = ["BROKEN"]


class TooWide(NumpyRing):
    """The window is one too wide: the size handed on counts the keys to the left."""

    case = "1"

    def __init__(self, window: int, *sizes: Any, **named: Any) -> None:
        super().__init__(window + 1, *sizes, **named)


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
        return _attention(q, self.keys, self.values, held, by)


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


class Saturated(NumpyRing):
    """The length stops at the window, and the next position is taken from it."""

    case = "20"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        self.seen = min(self.seen, self.window)


class TrimAlways(NumpyRing):
    """Taking back moves the cursor, whether or not the older tokens are still there."""

    case = "27"

    def rewind(self, n: int) -> None:
        """Take back without asking."""
        self.seen -= n
        self._clear(self.positions >= self.seen)


class NeverBack(NumpyRing):
    """Once full, nothing can be taken back, slack or no slack."""

    case = "30"

    def rewind(self, n: int) -> None:
        """Refuse as soon as the ring has wrapped."""
        if n and self.seen >= self.slots:
            raise ValueError("cannot rewind a full ring")
        super().rewind(n)


class HalfReset(NumpyRing):
    """The reset clears the storage and forgets the cursor."""

    case = "46"

    def reset(self) -> None:
        """Clear the slots only."""
        self._clear(slice(None))


class Uninitialised(NumpyRing):
    """Empty slots are masked, but their values are multiplied by a weight of 0."""

    case = "47"

    def _one(self, q: Array, scale: float) -> Array:
        mask = self._mask(np.array([self.seen - 1]), self.positions)
        return _attention(q, self.keys, self.values, mask, scale)


BROKEN: tuple[Any, ...] = (
    TooWide,
    LocalRows,
    WriteFirst,
    OneBound,
    SinksLate,
    Saturated,
    TrimAlways,
    NeverBack,
    HalfReset,
    Uninitialised,
)
