"""What lesson 09 starts from: pages that are counted, blocks of numbers, a first state of tiles.

Nothing here decides where a token goes. Graded runs may read this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Pool", "drawn_block", "fork", "serve", "start", "tokens_of"]

Array = npt.NDArray[Any]
Table = dict[int, int]  # block -> page
Place = Callable[[Sequence[int], int, int, int], tuple[int, int]]
State = tuple[Array, Array, Array]


class Pool:
    """Pages of ``size`` places, a token in each; a token stands for its key and its value.

    ``pages[p]`` is the list of what lies on page p; ``owners[p]`` says how many tables name it.
    """

    def __init__(self, pages: int, size: int) -> None:
        self.size = size
        self.pages: list[list[Any]] = [[None] * size for _ in range(pages)]
        self.owners = [0] * pages

    def free_page(self) -> int:
        """Name a page that nobody owns; changes nothing. Raises ``ValueError`` if there is none."""
        if 0 not in self.owners:
            raise ValueError(f"all {len(self.owners)} pages are in use")
        return self.owners.index(0)

    def __repr__(self) -> str:
        used = {p: page for p, page in enumerate(self.pages) if self.owners[p]}
        return f"<pool of {len(self.pages)} pages, owners {self.owners}, in use {used}>"


def fork(pool: Pool, table: Table) -> Table:
    """Give a second table for the same past: every page has one owner more, none is copied."""
    for page in table.values():
        pool.owners[page] += 1
    return dict(table)


def tokens_of(pool: Pool, table: Table, seen: int) -> list[Any]:
    """Read a sequence's first ``seen`` tokens through its table; "?" where no page is named."""
    places = (divmod(position, pool.size) for position in range(seen))
    return [pool.pages[table[block]][at] if block in table else "?" for block, at in places]


def drawn_block(rng: Random, kv_heads: int, tokens: int, head_dim: int, along: int) -> Array:
    """Draw numbers whose groups along one axis can be cut into 255 steps without a tie.

    Gives (kv_heads, tokens, head_dim) float64; ``along`` is 1 for groups that reach over the tokens
    of a channel, 2 for those that reach over the channels of a token. Each group's range is a
    prime number of steps of 1/250, so that no number lies half-way between two of the 255.
    """
    x = np.moveaxis(np.zeros((kv_heads, tokens, head_dim)), along, -1)
    for place in np.ndindex(*x.shape[:-1]):
        far = rng.choice([521, 1031, 4099])
        drawn = [0, far, *(rng.randrange(1, far) for _ in range(x.shape[-1] - 2))]
        rng.shuffle(drawn)
        x[place] = (np.array(drawn) - rng.randrange(-900, 900)) / 250
    return np.moveaxis(x, -1, along)


def start(rows: int, head_dim: int) -> State:
    """Give the state of ``rows`` queries that have seen no tile: maximum, sum and output."""
    return np.full(rows, -np.inf), np.zeros(rows), np.zeros((rows, head_dim))


def serve(
    place_of: Place, table: Sequence[int], entries: int, size: int, window: int, tokens: int
) -> tuple[list[Any], list[int]]:
    """Write tokens 0, 1, ... where ``place_of`` says; then read the last ``window`` of them.

    Gives what the newest token reads, oldest position first, and the pages that were written
    though they are not among the table's first ``entries``: those are somebody else's.
    """
    memory: dict[tuple[int, int], int] = {}
    for position in range(tokens):
        page, at = place_of(table, entries, size, position)
        memory[int(page), int(at)] = position
    read = range(max(0, tokens - window), tokens)
    places = [place_of(table, entries, size, position) for position in read]
    foreign = {page for page, _ in memory} - set(table[:entries])
    return [memory.get((int(page), int(at))) for page, at in places], sorted(foreign)
