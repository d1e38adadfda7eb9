"""What `ringkv train` shows of its runs: lines of text, and the loss curves as a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from . import recall
from .figures.style import INK, LINE, SLOT_COLOURS, text_style

__all__ = ["bar", "curve", "draw_losses", "lines"]

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 50
COLOURS = (*SLOT_COLOURS[:5], SLOT_COLOURS[6])  # yellow is no colour for a line
STYLES = ("-", "--", ":", "-.", (0, (6, 1)), (0, (1, 1)))


def curve(losses: Sequence[float], width: int = WIDTH) -> str:
    """Give the losses as bars, from 0 up to the largest; each bar the mean of its share."""
    means = averages(losses, width)
    finite = [x for x in means if math.isfinite(x)]
    most = max(finite, default=0.0) or 1.0
    return "".join(_bar(x / most) if math.isfinite(x) else "?" for x in means)


def averages(losses: Sequence[float], parts: int) -> list[float]:
    """Give the means of up to ``parts`` stretches, as even as they can be."""
    n, k = len(losses), min(parts, len(losses))
    edges = [i * n // k for i in range(k + 1)] if k else [0]
    return [math.fsum(losses[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]


def _bar(share: float) -> str:
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]


def bar(name: str, done: int, steps: int, loss: float) -> str:
    """Give the line that says how far a run is."""
    full = 24 * done // steps
    return f"{name} [{'#' * full}{'.' * (24 - full)}] step {done} of {steps}, loss {loss:.2f}"


def lines(name: str, seed: int, run: Any) -> list[str]:
    """Say how a run went."""
    parts = averages(run.losses, 10)
    return [
        f"{name}, seed {seed}, {len(run.losses)} steps",
        f"  loss      {curve(run.losses)}",
        f"            {' '.join(f'{x:.2f}' for x in parts)}  (means of {len(parts)} stretches)",
        f"  accuracy  {run.accuracy:.3f} on texts it was not trained on; chance is {recall.CHANCE}",
        f"  cost      {run.cpu_seconds:.1f} CPU seconds",
    ]


def draw_losses(runs: Mapping[str, Sequence[float]]) -> Any:
    """Draw the loss of each run against its steps, smoothed over ten: a figure of 9 by 4 inches."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(text_style()):
        figure = Figure(figsize=(9, 4), layout="constrained")
        axes = figure.subplots()
        for number, (name, losses) in enumerate(runs.items()):
            means = averages(losses, max(1, len(losses) // 10))
            width = len(losses) / len(means)
            steps = [width * (i + 0.5) for i in range(len(means))]
            axes.plot(steps, means, lw=2, label=name, ls=STYLES[number % len(STYLES)],
                      color=COLOURS[number % len(COLOURS)])  # fmt: skip
        axes.axhline(math.log(recall.VALUES), color=LINE, ls="--")
        axes.annotate("guessing a value", (1, math.log(recall.VALUES)), (-4, -14), color=INK,
                      xycoords=("axes fraction", "data"), textcoords="offset points",
                      ha="right")  # fmt: skip
        axes.set(
            xlabel="steps", ylabel="loss of an answer (nats)", title="Recall task", ylim=(0, 4)
        )
        axes.legend(frameon=False)
        axes.grid(color=LINE, lw=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
