"""The perplexity cliff, from recorded figures: by blocks, and by bins of 32 tokens."""

from __future__ import annotations

import math
from typing import Any

from ..recorded import recorded, row
from .still import Still
from .style import INK, LINE, SLOT_COLOURS, WRONG, text_style
from .words import listed, spelt

__all__ = ["BLOCKS", "RECORDED", "draw_cliff", "draw_cliff_bins", "shown_bins"]

KEYS = {
    "keep the last 256": "window",
    "keep the last 252 and the first 4": "sinks",
    "keep everything": "full",
}
STYLES = {
    "keep the last 256": (WRONG, "-", 2.6),
    "keep the last 252 and the first 4": (SLOT_COLOURS[0], "-", 5.0),
    "keep everything": (INK, ":", 2.2),
}


def _blocks() -> tuple[tuple[int, int], ...]:
    names = row("cliff", "full")["perplexity"]
    return tuple((int(first), int(last)) for first, last in (name.split("-") for name in names))


BLOCKS = _blocks()
"""The blocks of positions, first to last (not included), over which each perplexity was taken."""

RECORDED = {name: tuple(row("cliff", key)["perplexity"].values()) for name, key in KEYS.items()}
"""Perplexity by block. Recorded, not computed here: ``recorded("cliff")`` says with what."""


def draw_cliff() -> Still:
    """Draw the three recorded runs, one level a block. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    edges = [BLOCKS[0][0], *(last for _, last in BLOCKS)]
    highest = max(max(values) for values in RECORDED.values())
    top = 1.25 * highest
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
        for name, values in RECORDED.items():
            colour, line, width = STYLES[name]
            axes.stairs(values, edges, baseline=None, color=colour, ls=line, lw=width, label=name)
        axes.annotate(
            "token 0 leaves the window", (256, highest), (300, 0.93 * top), va="center",
            arrowprops={"arrowstyle": "-|>", "color": LINE},
        )  # fmt: skip
        axes.set(xlabel="token", ylabel="perplexity (lower is better)")
        axes.set(ylim=(0, top), xlim=(0, edges[-1]))
        axes.set_xticks(edges)
        axes.tick_params(axis="x", labelrotation=35, labelsize=9)
        _finish(figure, axes)
    return Still(figure, _blocks_in_words())


def _blocks_in_words() -> str:
    first, second = (listed(sorted({round(run[at]) for run in RECORDED.values()})) for at in (0, 1))
    later = listed(round(level) for level in RECORDED["keep everything"][2:])
    count, jump = spelt(len(RECORDED)), round(RECORDED["keep the last 256"][2])
    return (
        f"Perplexity by block of tokens for {count} caches. All {count} start at {first} and fall "
        f"to {second}. The cache that keeps everything goes on near {later}. The one that keeps "
        f"the last 256 jumps to {jump} at token {BLOCKS[2][0]} and stays high. Keeping 252 and the "
        "first 4 follows the full cache closely."
    )


def shown_bins(last: int = 640) -> dict[str, list[float]]:
    """Give perplexity by bins, up to a position; bin b is of tokens b * 32 + 1 to (b + 1) * 32."""
    count = last // recorded("cliff")["bin"]
    return {
        name: [math.exp(nll) for nll in row("cliff", key)["nll_bins"][:count]]
        for name, key in KEYS.items()
    }


def draw_cliff_bins() -> Still:
    """Draw the first 640 tokens in bins of 32. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    width = recorded("cliff")["bin"]
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
        for name, values in shown_bins().items():
            edges = [1 + width * place for place in range(len(values) + 1)]
            colour, line, thick = STYLES[name]
            axes.stairs(values, edges, baseline=None, color=colour, ls=line, lw=thick, label=name)
        axes.axvline(257, color=LINE, lw=1.2)
        axes.set_yscale("log")
        axes.set_yticks([2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"])
        axes.minorticks_off()
        axes.text(262, 1.25, "257: predicted without token 0", color=INK, va="bottom")
        axes.set(xlabel="token", ylabel="perplexity (logarithmic)", xlim=(1, 641), ylim=(1.2, 200))
        axes.set_xticks([1, 129, 257, 385, 513, 641])
        _finish(figure, axes)
    return Still(figure, _bins_in_words())


def _bins_in_words() -> str:
    width, bins = recorded("cliff")["bin"], shown_bins()
    window, full = bins["keep the last 256"], bins["keep everything"]
    above = [one / other for one, other in zip(window, full, strict=True)]
    together = width * next(place for place, factor in enumerate(above) if factor > 1.01)
    return (
        f"Perplexity in bins of {width} tokens for the first {width * len(full)}. "
        f"{spelt(len(bins)).capitalize()} lines run together to token {together}. From "
        f"{together + 1} on the line of the last 256 lies higher, up to {max(above):.1f} times, "
        "and the line of 252 and the first 4 stays with that of everything."
    )


def _finish(figure: Any, axes: Any) -> None:
    import matplotlib.pyplot as plt

    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper center", ncols=3)
    plt.close(figure)
