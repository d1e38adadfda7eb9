"""What pages are for: prefixes that requests share, and requests that come and go.

Source: PagedAttention (arXiv 2309.06180), continuous batching (Orca, OSDI 2022); systems S19, S20.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .paged import OutOfPages, PagedSequence, PagePool

__all__ = ["Fragmentation", "PrefixIndex", "Request", "Server", "fragmentation"]

Array = npt.NDArray[Any]


class PrefixIndex:
    """Finds the pages of a prefix by its tokens: whole pages alone, kept until ``forget``.

    With a window W a hit of m tokens is of use only while the last ``W - 1`` of them are held: the
    next token sees them all. What lies before them is not needed.
    """

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self.pages: dict[tuple[int, ...], int] = {}

    def keep(self, tokens: Sequence[int], sequence: PagedSequence) -> None:
        """Remember each whole page of a sequence under all tokens up to its end."""
        size = self.pool.page_size
        for block, page in sequence.table.items():
            end = (block + 1) * size
            if end <= min(len(tokens), sequence.seen) and tuple(tokens[:end]) not in self.pages:
                self.pages[tuple(tokens[:end])] = self.pool.share(page)

    def start(self, tokens: Sequence[int], window: int | None = None) -> PagedSequence:
        """Begin a sequence with the longest prefix of ``tokens`` whose needed pages are held."""
        size = self.pool.page_size
        for blocks in range(len(tokens) // size, 0, -1):
            length = blocks * size
            first = 0 if window is None else max(0, length - (window - 1)) // size
            wanted = {
                b: self.pages.get(tuple(tokens[: (b + 1) * size])) for b in range(first, blocks)
            }
            if all(page is not None for page in wanted.values()):
                found = PagedSequence(self.pool, window)
                found.table = {b: self.pool.share(p) for b, p in wanted.items() if p is not None}
                found.seen = length
                return found
        return PagedSequence(self.pool, window)

    def forget(self) -> None:
        """Give all remembered pages back."""
        for page in self.pages.values():
            self.pool.give_back(page)
        self.pages = {}


@dataclass
class Request:
    """Keys and values (kv_heads, n, head_dim) that a request will write, one token a step."""

    name: str
    keys: Array
    values: Array
    sequence: PagedSequence | None = None


@dataclass
class Server:
    """Continuous batching: at each step requests join while pages are free, and leave when done."""

    pool: PagePool
    window: int | None = None
    waiting: list[Request] = field(default_factory=list)
    running: list[Request] = field(default_factory=list)

    def step(self) -> list[str]:
        """Write one token of each running request; give the names of those that ended.

        A request that finds no page is put back to the front of the queue and begins anew later.
        """
        while self.waiting and self.pool.free > len(self.running):
            request = self.waiting.pop(0)
            request.sequence = PagedSequence(self.pool, self.window)
            self.running.append(request)
        ended = []
        for request in list(self.running):
            sequence = request.sequence
            assert sequence is not None
            try:
                sequence.append(request.keys[:, sequence.seen], request.values[:, sequence.seen])
            except OutOfPages:
                self._leave(request)
                self.waiting.insert(0, request)
                continue
            if sequence.seen == request.keys.shape[1]:
                self._leave(request)
                ended.append(request.name)
        return ended

    def _leave(self, request: Request) -> None:
        self.running.remove(request)
        if request.sequence:
            request.sequence.release()  # its memory is there for the next step


@dataclass(frozen=True)
class Fragmentation:
    """Tokens stored, and token places taken by reserving the longest length, and by pages."""

    stored: int
    reserved: int
    paged: int


def fragmentation(lengths: Sequence[int], longest: int, page_size: int) -> Fragmentation:
    """Count what some lengths take when ``longest`` is reserved for each, and in pages."""
    if not lengths or min(lengths) < 1 or max(lengths) > longest:
        raise ValueError(f"lengths are {list(lengths)}; give some from 1 to {longest}")
    pages = int(np.ceil(np.asarray(lengths) / page_size).sum())
    return Fragmentation(sum(lengths), longest * len(lengths), pages * page_size)
