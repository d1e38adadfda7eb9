"""A window of six over pages of four: which pages are held as it moves on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..paged import PagedSequence, PagePool
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, digit_colour, text_style

__all__ = ["QUERIES", "SIZE", "WINDOW", "draw_paged_window", "held_blocks"]

WINDOW, SIZE = 6, 4
QUERIES = (8, 9, 11, 12, 13)


def held_blocks() -> dict[int, list[int]]:
    """Give the blocks in the table once each of some positions is written."""
    sequence = PagedSequence(PagePool(4, SIZE, 1, 1), WINDOW)
    found = {}
    for position in range(max(QUERIES) + 1):
        sequence.append(np.zeros((1, 1)), np.zeros((1, 1)))
        if position in QUERIES:
            found[position] = sorted(sequence.table)
    return found


def draw_paged_window() -> Still:
    """Draw a row a query: pages as frames, the window's tokens filled. 9 by 3 inches."""
    import matplotlib.pyplot as plt

    held = held_blocks()
    last = 4 * SIZE
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
        for row, (query, blocks) in enumerate(held.items()):
            axes.text(-0.3, row, f"query at {query}", ha="right", va="center", color=INK)
            for position in range(last):
                _cell(axes, row, position, query, blocks)
            for block in blocks:
                axes.add_patch(plt.Rectangle((block * SIZE + 0.03, row - 0.42), SIZE - 0.06, 0.84,
                                             fill=False, ec=INK, lw=2.2))  # fmt: skip
            axes.text(last + 0.3, row, f"{len(blocks)} pages held", va="center", color=INK)
        for block in range(last // SIZE):
            axes.text(SIZE * (block + 0.5), -0.85, f"block {block}", ha="center", color=FAINT)
        axes.set(xlim=(-2.6, last + 3.2), ylim=(len(held) - 0.4, -1.3))
        axes.axis("off")
        plt.close(figure)
    return Still(figure, _alt(held))


def _cell(axes: Any, row: int, position: int, query: int, blocks: list[int]) -> None:
    """Draw a position: coloured if the query sees it, grey if only its page is held."""
    import matplotlib.pyplot as plt

    seen = query - WINDOW < position <= query
    kept = position // SIZE in blocks and position <= query
    colour = SLOT_COLOURS[0] if seen else "#e4e4e4" if kept else "white"
    axes.add_patch(plt.Rectangle((position, row - 0.38), 1, 0.76, fc=colour, ec=LINE, lw=0.8))
    if kept:
        digits = digit_colour(0) if seen else FAINT
        axes.text(position + 0.5, row, str(position), ha="center", va="center", color=digits,
                  fontsize=9)  # fmt: skip


def _alt(held: dict[int, list[int]]) -> str:
    rows = "; ".join(
        f"query {query}, which sees {query - WINDOW + 1} to {query}: blocks {_listed(blocks)}"
        for query, blocks in held.items()
    )
    return f"W = {WINDOW} over pages of {SIZE}. {rows}."


def _listed(blocks: list[int]) -> str:
    return f"{', '.join(map(str, blocks[:-1]))} and {blocks[-1]}"
