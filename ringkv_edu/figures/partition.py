"""What a query sees exactly and what in which summary: one row a query, from a ring that ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numpy_summaries import NumpySummaryRing
from ..summaries import spans
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, text_style
from .words import listed, spelt

__all__ = ["BLOCK", "QUERIES", "SUMMARIES", "WINDOW", "Seen", "draw_partition", "seen_by"]

WINDOW, BLOCK, SUMMARIES = 4, 2, 3
QUERIES = (4, 5, 9, 10, 12)
COLOURS = (SLOT_COLOURS[1], SLOT_COLOURS[4], SLOT_COLOURS[5])  # orange, sky blue, yellow
HATCHES = ("//", "..", "\\\\")


@dataclass(frozen=True)
class Seen:
    """What the query at position ``query`` sees: positions, and the members of each summary."""

    query: int
    exact: list[int]
    summaries: list[range]


def seen_by() -> list[Seen]:
    """Run a ring with summaries and note what the queries of the picture see."""
    ring = NumpySummaryRing(WINDOW, 1, 1, SUMMARIES, BLOCK)
    token, seen = np.zeros((1, 1, 1), np.float32), []
    for position in range(max(QUERIES) + 1):
        ring.append(token, token)
        if position in QUERIES:
            exact = sorted(p for p in ring.positions.tolist() if p >= 0)
            counts = tuple(n for n in ring.counts.tolist() if n)
            seen.append(Seen(position, exact, spans(counts, ring.sinks)))
    return seen


def draw_partition() -> Still:
    """Draw a row for each query. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4))
        for row, seen in enumerate(seen_by()):
            axes.text(-0.9, row, f"query {seen.query}", ha="right", va="center")
            for position in seen.exact:
                _box(axes, row, range(position, position + 1), str(position), SLOT_COLOURS[0], "")
            for place, some in enumerate(seen.summaries):
                text = f"{some[0]}" if len(some) == 1 else f"{some[0]} to {some[-1]}"
                _box(axes, row, some, text, COLOURS[place % 3], HATCHES[place % 3])
            for position in range(seen.query + 1, max(QUERIES) + 1):
                axes.text(position, row, position, ha="center", va="center", color=LINE)
        note = "plain: seen exactly      hatched: in a summary      pale: not there yet"
        axes.text(6, len(QUERIES) - 0.2, note, ha="center", va="center", color=FAINT)
        axes.set(xlim=(-2.7, max(QUERIES) + 0.6), ylim=(len(QUERIES) + 0.1, -0.6))
        axes.axis("off")
        figure.subplots_adjust(left=0.01, right=0.99, top=0.99, bottom=0.01)
        plt.close(figure)
    return Still(figure, _alt(seen_by()))


def _alt(rows: list[Seen]) -> str:
    said = [
        f"Query {seen.query} sees {_span(seen.exact)}{'' if row else ' exactly'} and "
        f"{_summaries(seen.summaries)}."
        for row, seen in enumerate(rows)
    ]
    return " ".join([f"Rows for {spelt(len(rows))} queries.", *said])


def _summaries(some: list[range]) -> str:
    if len(some) == 1:
        members = listed(some[0]) if len(some[0]) < 3 else _span(some[0])
        return f"a summary of {members}"
    alone = len(some[-1]) == 1  # then a comma: "4 to 5 and 6" would read as one
    return f"summaries of {listed(map(_span, some), comma=alone)}"


def _span(some: Sequence[int]) -> str:
    return f"{some[0]}" if len(some) == 1 else f"{some[0]} to {some[-1]}"


def _box(axes: Any, row: int, some: range, text: str, colour: str, hatch: str) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((some[0] - 0.44, row - 0.36), len(some) - 0.12, 0.72, lw=1)
    box.set(facecolor=colour, edgecolor=INK, hatch=hatch)
    axes.add_patch(box)
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.4} if hatch else None
    middle = (some[0] + some[-1]) / 2
    axes.text(middle, row + 0.01, text, ha="center", va="center", fontweight="bold", bbox=back,
              color=INK if hatch else "white")  # fmt: skip
