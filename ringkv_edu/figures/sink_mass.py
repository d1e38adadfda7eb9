"""What token 0 gets of a model's attention, layer by layer, and how long its value is: recorded."""

from __future__ import annotations

import math

from ..recorded import recorded
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, text_style

__all__ = ["draw_sink_mass", "ratios", "shares"]


def shares() -> list[float]:
    """Give the share of attention on token 0 in each layer, mean over heads and late queries."""
    return [layer["token_0"] for layer in recorded("sinks")["layers"]]


def ratios() -> list[float]:
    """Give the length of token 0's value beside the mean of the others', for each layer."""
    layers = recorded("sinks")["layers"]
    return [layer["value_norm_0"] / layer["value_norm_others"] for layer in layers]


def draw_sink_mass() -> Still:
    """Draw both as bars. Gives a still of 9 by 3 inches."""
    import matplotlib.pyplot as plt

    panels = (
        (shares(), "share of attention on token 0", SLOT_COLOURS[0], ""),
        (ratios(), "length of its value, others = 1", SLOT_COLOURS[1], "//"),
    )
    with plt.rc_context(text_style()):
        figure, both = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
        for axes, (values, title, colour, hatch) in zip(both, panels, strict=True):
            axes.bar(range(len(values)), values, color=colour, hatch=hatch, ec="white", width=0.86)
            axes.set_title(title, fontsize=11)
            axes.set(xlabel="layer", xlim=(-0.7, len(values) - 0.3))
            axes.set_xticks(range(0, len(values), 5))
            axes.tick_params(colors=FAINT, labelcolor=INK)
            axes.spines[["top", "right"]].set_visible(False)
        both[0].set_ylim(0, 0.65)
        both[1].axhline(1, color=LINE, lw=1.2)
        plt.close(figure)
    return Still(figure, _alt())


def _alt() -> str:
    share, ratio = shares(), ratios()
    first = max(range(1, len(share)), key=lambda layer: share[layer] - share[layer - 1])
    before, after = max(share[:first]), share[first:]
    most = f"{max(ratio[first:]):.2f}"
    return (
        f"Two charts over {len(share)} layers, recorded. Left, the share of attention on token 0: "
        f"below {math.floor(100 * before) + 1} percent in layers 0 to {first - 1}, then "
        f"{100 * min(after):.0f} to {100 * max(after):.0f} percent. Right, the length of its value "
        f"beside the mean of the others: there, {'half' if most == '0.50' else most} or less."
    )
