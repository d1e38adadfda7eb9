"""The perplexity cliff, from recorded figures."""

from __future__ import annotations

from typing import Any

from .style import INK, LINE, SLOT_COLOURS, WRONG, text_style

__all__ = ["BLOCKS", "RECORDED", "draw_cliff"]

BLOCKS = ((0, 128), (128, 256), (256, 512), (512, 1024), (1024, 1297))
"""The blocks of tokens, first to last, over which each perplexity was taken."""

RECORDED = {
    "keep the last 256": (24.16, 11.88, 40.40, 19.06, 37.13),
    "keep the last 252 and the first 4": (24.16, 11.88, 13.78, 9.84, 18.17),
    "keep everything": (24.16, 11.88, 13.37, 8.63, 18.06),
}
"""Perplexity by block. Recorded, not computed here: SmolLM2-135M-Instruct, one English text of
1,297 tokens fed one by one, in float32 on a CPU."""

STYLES = {
    "keep the last 256": (WRONG, "-", 2.6),
    "keep the last 252 and the first 4": (SLOT_COLOURS[0], "-", 5.0),
    "keep everything": (INK, ":", 2.2),
}


def draw_cliff() -> Any:
    """Draw the three recorded runs, one level a block. Gives a figure of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    edges = [BLOCKS[0][0], *(last for _, last in BLOCKS)]
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
        for name, values in RECORDED.items():
            colour, line, width = STYLES[name]
            axes.stairs(values, edges, baseline=None, color=colour, ls=line, lw=width, label=name)
        axes.annotate(
            "token 0 leaves\nthe window", (256, 26), (300, 26), va="center",
            arrowprops={"arrowstyle": "-|>", "color": LINE},
        )  # fmt: skip
        axes.set(
            xlabel="token", ylabel="perplexity (lower is better)", ylim=(0, 44), xlim=(0, 1297)
        )
        axes.set_xticks(edges)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside upper center", ncols=3)
        plt.close(figure)
    return figure
