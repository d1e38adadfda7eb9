"""Recall against memory, from the recorded runs: one point for each way to keep the past."""

from __future__ import annotations

from statistics import mean
from typing import Any

from .recall_table import WORDS, bytes_kept, read_runs
from .still import Still
from .style import FAINT, INK, SLOT_COLOURS, quiet_axes, text_style
from .words import spelt

__all__ = ["draw_recall"]

BEHIND = {"fc": "white", "ec": "none", "pad": 1.0}
PLACES = {
    "full": ((0, -17), "center"),
    "window": ((-5, 16), "left"),
    "pooled": ((-5, -17), "left"),
    "learned": ((12, 1), "left"),
    "state": ((0, -34), "center"),
    "recompute": ((-5, 16), "left"),
}
"""Where a point's name stands, away from the point, in points of text."""


def draw_recall() -> Still:
    """Draw mean and range of the runs against the bytes kept, for one text. Needs torch.

    Gives a still of 9 by 3.8 inches.
    """
    import matplotlib.pyplot as plt

    found = read_runs()
    kept = bytes_kept(found.accuracies)
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
        axes.axhline(found.chance, color=FAINT, lw=1.2, ls="--", zorder=0)
        axes.text(0.995, found.chance + 0.02, f"chance: {found.chance}", color=FAINT, ha="right",
                  transform=axes.get_yaxis_transform(), bbox=BEHIND)  # fmt: skip
        for name, accuracies in found.accuracies.items():
            _point(axes, name, kept[name], accuracies)
        axes.set(xscale="log", xlim=(0.88 * kept["window"], 1.28 * kept["full"]), ylim=(0, 1.16))
        axes.set(xlabel="bytes kept for one text (logarithmic)", ylabel="recall")
        ticks = sorted({kept["window"], kept["full"], 2 * kept["window"]})
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        quiet_axes(axes)
        plt.close(figure)
    return Still(figure, _alt(found.chance, kept, found.accuracies))


def _point(axes: Any, name: str, size: int, accuracies: list[float]) -> None:
    colour, middle = INK if name == "full" else SLOT_COLOURS[0], mean(accuracies)
    away, side = PLACES[name]
    axes.annotate(WORDS[name], (size, middle), away, textcoords="offset points", ha=side,
                  va="center", color=INK, bbox=BEHIND)  # fmt: skip
    below, above = middle - min(accuracies), max(accuracies) - middle
    axes.errorbar(size, middle, [[below], [above]], fmt="o", color=colour, ms=9, mec="white",
                  lw=2, capsize=4, capthick=2)  # fmt: skip


def _alt(chance: float, kept: dict[str, int], accuracies: dict[str, list[float]]) -> str:
    runs = spelt(min(map(len, accuracies.values())))
    points = "; ".join(
        f"{WORDS[name]}: {kept[name]:,}{'' if place else ' bytes'}, {mean(some):.2f}"
        for place, (name, some) in enumerate(accuracies.items())
    )
    return (
        f"Recall against bytes kept, mean and range of {runs} recorded runs. "
        f"{points.capitalize()}. Dashed: chance, {chance}."
    )
