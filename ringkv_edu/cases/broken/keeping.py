"""Bugs of what is kept: evicting, counting, storage and its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numpy_ring import Array, NumpyRing

__all__ = [
    "CountsRows",
    "EarlyRoll",
    "Grows",
    "Headroom",
    "MadeAnew",
    "PathDecides",
    "Saturated",
    "SinksRescaled",
    "SinksRolled",
    "Twice",
    "Upcasts",
]


class EarlyRoll(NumpyRing):
    """The oldest token leaves one step early, when the window has only just filled up."""

    case = "3"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        if self.seen == self.window:
            self._clear(self.positions == self.seen - self.window)


class Saturated(NumpyRing):
    """The length stops at the window, and the next position is taken from it."""

    case = "20"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        self.seen = min(self.seen, self.window)


class CountsRows(NumpyRing):
    """With sinks, the next position is taken from the number of rows kept."""

    case = "21a"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        if self.sinks:
            self.seen = min(self.seen, self.slots)


class SinksRolled(NumpyRing):
    """The ring rolls over all slots, the sinks' among them."""

    case = "41"

    def _places(self, n: int) -> tuple[Any, Any, Any]:
        new = self.seen + np.arange(n)
        stays = new > new[-1] - self.slots
        return stays, new[stays], new[stays] % self.slots


class SinksRescaled(NumpyRing):
    """Every write touches the sinks' keys, too."""

    case = "41a"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        self.keys[:, : self.sinks] *= np.float32(1 + 1e-6)


class PathDecides(NumpyRing):
    """A chunk leaves one token fewer behind than single tokens do."""

    case = "31b"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        if k.shape[1] > 1:
            self._clear(self.positions == self.seen - self.window)


class Twice(NumpyRing):
    """The newest token is stored a second time in place of the oldest."""

    case = "41b"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        if self.seen > self.window > 1:
            self.positions[self.positions == self.seen - self.window + 1] = self.seen - 1


class Headroom(NumpyRing):
    """A long chunk gets room of its own, which is never given back."""

    case = "18"

    def _write(self, k: Array, v: Array) -> None:
        extra = k.shape[1] - 1
        if self.seen == 0 and extra > 0:
            window, self.slack = self.window, self.slack + extra
            self.slots = self.sinks + window + self.slack
            shape = (2, self.keys.shape[0], self.slots, self.keys.shape[2])
            self.keys, self.values = np.zeros(shape, self.keys.dtype)
            self.positions = np.full(self.slots, -1, np.int64)
        super()._write(k, v)


class Grows(NumpyRing):
    """The storage is made anew, a little larger, for every chunk."""

    case = "55a"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        if k.shape[1] > 1:
            self.extra = [*getattr(self, "extra", ()), np.zeros_like(k)]

    @property
    def nbytes(self) -> int:
        """Count what the chunks left, too."""
        return int(super().nbytes + sum(x.nbytes for x in getattr(self, "extra", ())))


class MadeAnew(NumpyRing):
    """The storage is another one after every write."""

    case = "55b"

    def _write(self, k: Array, v: Array) -> None:
        super()._write(k, v)
        self.keys, self.values = self.keys.copy(), self.values.copy()


class Upcasts(NumpyRing):
    """The storage takes the dtype of whatever is appended."""

    case = "48"

    def append(self, k: Array, v: Array) -> None:
        """Convert the storage, not the input."""
        if k.dtype != self.keys.dtype:
            wide = np.result_type(k.dtype, self.keys.dtype)
            self.keys, self.values = self.keys.astype(wide), self.values.astype(wide)
            k, v = k.astype(wide), v.astype(wide)
        super().append(k, v)

    def step(self, q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
        """Take what comes, as long as it fits the storage."""
        q, k, v = (x.astype(self.keys.dtype) for x in (q, k, v))
        return super().step(q, k, v, scale)
