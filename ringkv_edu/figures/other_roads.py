"""What thirteen ways to keep a past hold after 4K, 32K and 128K tokens, and what is still exact."""

from __future__ import annotations

from typing import Any

from .other_roads_table import LENGTHS, ROADS, SHOWN, Road, size_text
from .still import Still
from .style import INK, LINE, SLOT_COLOURS, text_style

__all__ = ["draw_other_roads"]

MARKS = {
    "exact": ("o", SLOT_COLOURS[0], "all are there, exact"),
    "blurred": ("D", SLOT_COLOURS[1], "the others are there, less exact"),
    "mixed": ("X", SLOT_COLOURS[3], "the others are mixed into a state"),
    "gone": ("s", SLOT_COLOURS[2], "the others are gone from here"),
}


def draw_other_roads() -> Still:
    """Draw a line a road, from its bytes at 4K tokens to those at 128K, the mark at 32K.

    Gives a still of 9 by 5 inches.
    """
    import matplotlib.pyplot as plt

    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
        for row, road in enumerate(ROADS):
            _draw(axes, row, road)
        axes.set(xscale="log", xlim=(0.35, 1300), ylim=(len(ROADS) - 0.4, -0.7))
        axes.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
        axes.minorticks_off()
        axes.set_xlabel(
            f"MiB a layer (logarithmic): from {LENGTHS[0]:,} to {LENGTHS[-1]:,} tokens, "
            f"the mark at {SHOWN:,}"
        )
        axes.set_yticks(range(len(ROADS)), [road.name for road in ROADS])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=LINE, lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        for mark, colour, words in MARKS.values():
            axes.plot([], [], mark, color=colour, mec=INK, ms=11, label=words)
        figure.legend(frameon=False, loc="outside upper center", ncols=2, fontsize=10)
        plt.close(figure)
    return Still(figure, _alt())


def _draw(axes: Any, row: int, road: Road) -> None:
    first, middle, last = (road.held(n) / 2**20 for n in LENGTHS)
    mark, colour, _ = MARKS[road.kind]
    axes.plot([first, last], [row, row], color=colour, lw=5, solid_capstyle="butt")
    axes.plot(middle, row, mark, color=colour, mec=INK, ms=11)
    words = (
        f"{road.still_exact} exact" if not road.also else road.still_exact.replace(";", " exact;")
    )
    axes.annotate(words, (last, row), (10, 0), textcoords="offset points", va="center", color=INK,
                  fontsize=9)  # fmt: skip


def _alt() -> str:
    held = {road.name: size_text(road.held(SHOWN)) for road in ROADS}
    flat = [road for road in ROADS if road.held(LENGTHS[0]) == road.held(LENGTHS[-1])]
    return (
        f"MiB a layer holds after {SHOWN:,} tokens, for {len(ROADS)} roads, from "
        f"{ROADS[0].name}, {held[ROADS[0].name]}, down to {ROADS[-1].name}, "
        f"{held[ROADS[-1].name]}. {len(flat)} of them hold the same at {LENGTHS[0]:,} and at "
        f"{LENGTHS[-1]:,} tokens; the others grow. Beside each: how many tokens are still exact."
    )
