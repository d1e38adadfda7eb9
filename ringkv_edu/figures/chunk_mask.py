"""A chunk's mask, and what is left to see when the chunk is written before it attends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy_ring import NumpyRing
from ..visibility import visibility_mask
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style
from .words import listed, spelt

__all__ = ["chunk_data", "draw_chunk_mask"]

WINDOW, SEEN, CHUNK = 4, 10, 3
GAP = 0.7  # between the ring's columns and those beside them


def chunk_data() -> dict[str, Any]:
    """Compute what both panels show, from a ring and the rule."""
    ring = NumpyRing(WINDOW, kv_heads=1, head_dim=1)
    tokens = np.zeros((1, SEEN + CHUNK, 1), np.float32)
    ring.append(tokens[:, :SEEN], tokens[:, :SEEN])
    before, queries = ring.positions.copy(), np.arange(SEEN, SEEN + CHUNK)
    ring.append(tokens[:, SEEN:], tokens[:, SEEN:])
    return {
        "queries": queries,
        "held": np.concatenate([before, queries]),
        "mask": visibility_mask(queries, np.concatenate([before, queries]), WINDOW),
        "after": ring.positions,
        "seen after": visibility_mask(queries, ring.positions, WINDOW),
        "lost": np.sort(np.setdiff1d(before, ring.positions)),
    }


def draw_chunk_mask() -> Still:
    """Draw attending first beside writing first. Gives a still of 9 by 3.6 inches."""
    import matplotlib.pyplot as plt

    data = chunk_data()
    with plt.rc_context(text_style()):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
        _attend_first(left, data)
        _write_first(right, data)
        figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=0.0, wspace=0.0)
        plt.close(figure)
    return Still(figure, _alt(data))


def _alt(data: dict[str, Any]) -> str:
    queries, before, after = data["queries"], data["held"][:WINDOW], data["after"]
    seen = int(data["mask"][0].sum())
    lost = visibility_mask(queries, data["lost"], WINDOW).any(axis=1)
    future = after.max() > queries
    return (
        f"Two grids for a chunk {_row(queries)} that meets a ring of {spelt(WINDOW)}. Left, attend "
        f"first: the columns are slots 0 to {WINDOW - 1}, holding {_row(before)}, and the chunk; "
        f"each query sees {spelt(seen)} filled cells, and its window begins one position later "
        f"than that of the row above. Right, written first: the slots hold {_row(after)}; queries "
        f"{listed(queries[lost & future])} have lost keys, marked L, and meet future ones, "
        "marked F."
    )


def _row(positions: Any) -> str:
    return ", ".join(map(str, positions))


def _attend_first(axes: Any, data: dict[str, Any]) -> None:
    xs = [*range(WINDOW), *(WINDOW + GAP + token for token in range(CHUNK))]
    _heads(axes, xs, data["held"], "the ring as it was", "the chunk beside it")
    for row, query in enumerate(data["queries"]):
        for x, position, sees in zip(xs, data["held"], data["mask"][row], strict=True):
            _cell(axes, x, row, position if sees else "", "seen" if sees else "blank")
        _row_name(axes, row, query)
    _frame(axes, "Attend first, then write")
    _legend(axes, [("seen", "9", "seen")])


def _write_first(axes: Any, data: dict[str, Any]) -> None:
    xs = [*range(WINDOW), *(WINDOW + GAP + place for place in range(len(data["lost"])))]
    _heads(axes, xs, [*data["after"], *data["lost"]], "the ring, written", "overwritten")
    for row, query in enumerate(data["queries"]):
        for x, position, sees in zip(xs, data["after"], data["seen after"][row], strict=False):
            kind = "seen" if sees else "future" if position > query else "blank"
            _cell(axes, x, row, {"seen": position, "future": "F", "blank": ""}[kind], kind)
        for x, position in zip(xs[WINDOW:], data["lost"], strict=True):
            lost = visibility_mask([query], [position], WINDOW)[0, 0]
            _cell(axes, x, row, "L" if lost else "", "lost" if lost else "blank")
        _row_name(axes, row, query)
    _frame(axes, "Written first")
    _legend(axes, [("seen", "9", "seen"), ("lost", "L", "lost"), ("future", "F", "future")])


def _cell(axes: Any, x: float, row: float, text: object, kind: str) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((x - 0.46, row - 0.42), 0.92, 0.84, lw=1)
    if kind == "seen":
        box.set(facecolor=SLOT_COLOURS[0], edgecolor=INK)
    elif kind == "future":
        box.set(facecolor="white", edgecolor=WRONG, hatch="////", lw=1.5)
    elif kind == "lost":
        box.set(facecolor=WRONG, edgecolor=INK, lw=1)
    else:
        box.set(facecolor="white", edgecolor=LINE)
    axes.add_patch(box)
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.2} if kind == "future" else None
    colour = "white" if kind == "seen" else "black"
    axes.text(x, row, text, ha="center", va="center", color=colour, fontweight="bold", bbox=back)


def _heads(axes: Any, xs: list[float], held: Any, ring: str, beside: str) -> None:
    for column, (x, position) in enumerate(zip(xs, held, strict=True)):
        axes.text(x, -0.78, position, ha="center", va="center", fontweight="bold")
        if column < WINDOW:
            axes.text(x, -1.22, f"slot {column}", ha="center", color=FAINT, fontsize=10)
    axes.text((xs[0] + xs[WINDOW - 1]) / 2, -1.85, ring, ha="center", va="center")
    axes.text((xs[WINDOW] + xs[-1]) / 2, -1.85, beside, ha="center", va="center")
    axes.text(-0.75, -0.78, "position", ha="right", va="center", color=FAINT)


def _row_name(axes: Any, row: int, query: int) -> None:
    axes.text(-0.75, row, f"query {query}", ha="right", va="center")


def _frame(axes: Any, title: str) -> None:
    axes.text(3.1, -2.65, title, ha="center", va="center", fontsize=13, fontweight="bold")
    axes.set(xlim=(-2.6, 7.4), ylim=(4.0, -3.1))
    axes.axis("off")


def _legend(axes: Any, entries: list[tuple[str, str, str]]) -> None:
    x = 0.0
    for kind, text, name in entries:
        _cell(axes, x, 3.35, text, kind)
        axes.text(x + 0.6, 3.35, name, ha="left", va="center")
        x += 1.3 + 0.25 * len(name)
