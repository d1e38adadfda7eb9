"""The NumPy ring with RoPE inside: what a cache that rotates by itself looks like to the cases."""

from __future__ import annotations

import numpy as np

from ..numpy_ring import Array, NumpyRing
from ..rope import rotate

__all__ = ["RotatingRing"]


class RotatingRing(NumpyRing):
    """Takes unrotated queries and keys; each key is turned once, when it is written."""

    rotates = True

    def append(self, k: Array, v: Array) -> None:
        """Turn the keys to their positions and store them."""
        super().append(self._turned(k, self.seen), v)

    def step(self, q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
        """Turn queries and keys to their positions, then step."""
        return super().step(self._turned(q, self.seen), self._turned(k, self.seen), v, scale)

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Turn the query to the newest position, then attend."""
        return super().attend(self._turned(q[:, None], self.seen - 1)[:, 0], scale)

    def _turned(self, x: Array, first: int) -> Array:
        return rotate(x, np.arange(first, first + x.shape[1]))
