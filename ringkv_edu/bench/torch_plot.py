"""The picture of `ringkv bench torch`: cost of a step against tokens seen, flat against growing."""

from __future__ import annotations

from typing import Any

from ..figures.style import INK, LINE, SLOT_COLOURS, text_style
from .torch_peers import Growing, Ring
from .torch_text import of_place

__all__ = ["draw_growth"]

LINES = {Growing.name: (SLOT_COLOURS[1], "--", "s"), Ring.name: (SLOT_COLOURS[0], "-", "o")}


def draw_growth(found: dict[str, Any]) -> Any:
    """Draw the least microseconds of a step against the tokens seen: a figure of 9 by 4 inches."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    grown, options = found["growth"], found["options"]
    seen = [row["seen"] for row in grown["rows"]]
    with rc_context(text_style()):
        figure = Figure(figsize=(9, 4), layout="constrained")
        axes = figure.subplots()
        for name, (colour, line, marker) in LINES.items():
            times = [row[name]["least_us"] for row in grown["rows"]]
            axes.plot(seen, times, color=colour, ls=line, marker=marker, lw=2)
            axes.annotate(name, (seen[-1], times[-1]), (10, 0), textcoords="offset points",
                          va="center", color=INK)  # fmt: skip
        axes.axvline(grown["window"], color=LINE, ls="--")
        axes.annotate(f"window {grown['window']}", (grown["window"], 0), (4, 4), color=INK,
                      xycoords=("data", "axes fraction"), textcoords="offset points")  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="tokens seen")
        axes.set_ylabel("microseconds for one decode step")
        axes.set_title(
            f"{options['heads']} query heads of {options['head_dim']}, {grown['kv_heads']} "
            f"key/value heads, {options['dtype']}, {of_place(found)}"
        )
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.set_xticks(seen, [f"{n:,}" for n in seen], minor=False)
        axes.minorticks_off()
        axes.grid(color=LINE, lw=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
