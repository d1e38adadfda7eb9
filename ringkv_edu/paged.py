"""A paged KV cache: pages of fixed size, a block table for each sequence, pages shared by count.

Token ``p`` of a sequence lies in block ``p // page_size``; the block table says which page of the
pool holds the block. A page may belong to several sequences (a fork, a shared prefix): it is
copied before one of them writes to it. With a window, a page goes back to the pool when its last
token has left, so a sequence needs ``ceil((W - 1) / page_size) + 1`` pages, not one less.

Source: PagedAttention (arXiv 2309.06180); systems S9, S19.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import count
from .numpy_ring import masked_attention
from .visibility import visibility_mask

__all__ = ["OutOfPages", "PagePool", "PagedSequence", "pages_needed"]

Array = npt.NDArray[Any]


class OutOfPages(Exception):
    """No page is free; nothing was changed."""


def pages_needed(window: int, page_size: int) -> int:
    """The most pages that a window's tokens can lie in: one token may begin a page."""
    return ceil((window - 1) / page_size) + 1


class PagePool:
    """``pages`` pages of ``page_size`` tokens, for one layer; ``owners`` counts who uses each."""

    def __init__(self, pages: int, page_size: int, kv_heads: int, head_dim: int,
                 dtype: npt.DTypeLike = np.float32) -> None:  # fmt: skip
        self.page_size = count("page_size", page_size, 1)
        shape = (2, count("pages", pages, 1), kv_heads, page_size, head_dim)
        self.keys, self.values = np.zeros(shape, dtype)
        self.owners = np.zeros(pages, np.int64)

    @property
    def free(self) -> int:
        """How many pages nobody uses."""
        return int((self.owners == 0).sum())

    def take(self) -> int:
        """Give a free page, now used once; raises ``OutOfPages``."""
        self.check_free()
        page = int(np.argmin(self.owners))
        self.owners[page] = 1
        return page

    def check_free(self) -> None:
        """Raise ``OutOfPages`` when no page is free."""
        if not self.free:
            raise OutOfPages(f"all {len(self.owners)} pages are in use; let a sequence go, or wait")

    def share(self, page: int) -> int:
        """Count one user more."""
        self.owners[page] += 1
        return page

    def give_back(self, page: int) -> None:
        """Count one user less."""
        self.owners[page] -= 1

    def copy(self, page: int) -> int:
        """Copy a shared page, and count one user less of the old one."""
        new = self.take()
        self.keys[new], self.values[new] = self.keys[page], self.values[page]
        self.give_back(page)
        return new


class PagedSequence:
    """One sequence's block table. ``window`` None keeps everything; ``seen`` is the next position.

    ``table`` maps blocks to pages. Blocks that have left the window are not in it.
    """

    def __init__(self, pool: PagePool, window: int | None = None) -> None:
        self.pool, self.window = pool, window and count("window", window, 1)
        self.table: dict[int, int] = {}
        self.seen = 0

    def append(self, k: Array, v: Array) -> None:
        """Write one token's key and value (kv_heads, head_dim); raises ``OutOfPages``."""
        block, place = divmod(self.seen, self.pool.page_size)
        shared = block in self.table and self.pool.owners[self.table[block]] > 1
        leaving = self._leaving()
        gained = any(self.pool.owners[self.table[old]] == 1 for old in leaving)
        if (block not in self.table or shared) and not gained:
            self.pool.check_free()  # before anything is changed
        for old in leaving:
            self.pool.give_back(self.table.pop(old))
        if shared:
            self.table[block] = self.pool.copy(self.table[block])  # others still read the old one
        elif block not in self.table:
            self.table[block] = self.pool.take()
        page = self.table[block]
        self.pool.keys[page, :, place], self.pool.values[page, :, place] = k, v
        self.seen += 1

    def _leaving(self) -> list[int]:
        """Give the blocks whose last token neither the next token's query nor a later one sees."""
        oldest = 0 if self.window is None else self.seen + 1 - self.window
        return [block for block in self.table if (block + 1) * self.pool.page_size <= oldest]

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """The positions of what ``gather`` gives, -1 behind the last token."""
        size = self.pool.page_size
        blocks = np.array(list(self.table), np.int64)
        held = (blocks[:, None] * size + np.arange(size)).ravel()
        return np.where(held < self.seen, held, -1)

    def gather(self) -> tuple[Array, Array]:
        """Give keys and values of all pages as (kv_heads, tokens, head_dim), in block order."""
        pages = list(self.table.values())
        return tuple(np.concatenate(list(x[pages]), axis=1)  # type: ignore[return-value]
                     for x in (self.pool.keys, self.pool.values))  # fmt: skip

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Attend with a query (heads, head_dim) at the newest position; masked by positions."""
        keys, values = self.gather()
        mask = visibility_mask([self.seen - 1], self.positions, self.window or self.seen)
        factor = q.shape[1] ** -0.5 if scale is None else scale
        return masked_attention(q[:, None], keys, values, mask, factor)[:, 0]

    def fork(self) -> PagedSequence:
        """Give a second sequence with the same past; no page is copied until one of them writes."""
        other = PagedSequence(self.pool, self.window)
        other.table = {block: self.pool.share(page) for block, page in self.table.items()}
        other.seen = self.seen
        return other

    def release(self) -> None:
        """Give everything back at once."""
        for page in self.table.values():
            self.pool.give_back(page)
        self.table, self.seen = {}, 0
