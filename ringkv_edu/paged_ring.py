"""A window over pages, with the surface of a ring: what the theatre shows of a paged cache.

A slot is a place in the pool: page ``k`` has the slots ``k * page_size`` and on. A second sequence
takes pages by turns, so that those of the first do not lie in a row; its tokens are not shown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .paged import PagedSequence, PagePool, pages_needed

__all__ = ["PagedRing"]

Array = npt.NDArray[Any]


class PagedRing:
    """``append``, ``keys``, ``positions`` and ``attend`` of a `PagedSequence` beside another one.

    ``pages`` in the pool, by default as many as both sequences need.
    """

    def __init__(self, window: int, page_size: int, kv_heads: int = 1, head_dim: int = 2,
                 pages: int | None = None) -> None:  # fmt: skip
        needed = 2 * pages_needed(window, page_size)
        self.pool = PagePool(needed if pages is None else pages, page_size, kv_heads, head_dim)
        self.window, self.page_size = window, page_size
        self._own, self._other = (PagedSequence(self.pool, window) for _ in range(2))

    def append(self, k: Array, v: Array) -> None:
        """Store tokens (kv_heads, n, head_dim), and as many of the other sequence's."""
        nothing = np.zeros_like(k[:, 0])
        for token in range(k.shape[1]):
            self._own.append(k[:, token], v[:, token])
            self._other.append(nothing, nothing)

    @property
    def seen(self) -> int:
        """How many tokens there have been."""
        return self._own.seen

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """The position in each slot of the pool, -1 where none of this sequence lies."""
        found = np.full(len(self.pool.owners) * self.page_size, -1, np.int64)
        for block, page in self._own.table.items():
            held = np.arange(block * self.page_size, (block + 1) * self.page_size)
            at = page * self.page_size
            found[at : at + self.page_size] = np.where(held < self.seen, held, -1)
        return found

    @property
    def keys(self) -> Array:
        """The keys in each slot, (kv_heads, slots, head_dim), zeros where none of these lies."""
        pages, heads, size, dim = self.pool.keys.shape
        whole = self.pool.keys.swapaxes(0, 1).reshape(heads, pages * size, dim)
        return np.where((self.positions >= 0)[:, None], whole, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the pages that this sequence holds."""
        page = (self.pool.keys.nbytes + self.pool.values.nbytes) // len(self.pool.owners)
        return page * len(self._own.table)

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Attend with a query (heads, head_dim) at the newest position."""
        return self._own.attend(q, scale)
