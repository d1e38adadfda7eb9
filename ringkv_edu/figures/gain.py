"""What a window gains against the length of the text: in latency, and in throughput."""

from __future__ import annotations

from typing import Any

from ..budget import Card, Plan
from ..budget_presets import CARDS, MODELS
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style

__all__ = ["LENGTHS", "WINDOW", "draw_gain", "gains"]

LENGTHS = tuple(2**n for n in range(10, 17))  # 1K to 64K
WINDOW = 1024
WISHED = 3
PLAN, CARD = Plan(MODELS["llama-2-7b"]), CARDS["article-80gb"]
NAMES = ("throughput, full card", "latency, batch of 8", "latency, one request")


def gains(
    plan: Plan = PLAN, card: Card = CARD, lengths: tuple[int, ...] = LENGTHS
) -> dict[str, list[float]]:
    """Give the three gains of W = 1,024 at each length; the whole card may be used."""
    ring = plan.with_window(WINDOW)
    found = (
        [ring.throughput_gain(plan, card, n, use=1) for n in lengths],
        [ring.gain(plan, card, n, batch=8) for n in lengths],
        [ring.gain(plan, card, n) for n in lengths],
    )
    return dict(zip(NAMES, found, strict=True))


def draw_gain() -> Still:
    """Draw the three gains on logarithmic axes. Gives a still of 9 by 3.8 inches."""
    import matplotlib.pyplot as plt

    found = gains()
    looks = dict(
        zip(NAMES, ((SLOT_COLOURS[0], "o"), (SLOT_COLOURS[2], "s"), (INK, "D")), strict=True)
    )
    fit = sum(PLAN.most_requests(CARD, n, use=1) >= 8 for n in LENGTHS)
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
        axes.axhline(WISHED, color=WRONG, lw=1.4, ls="--", zorder=0)
        axes.text(LENGTHS[0], 1.06 * WISHED, "3 times", color=INK, va="bottom")
        for name, values in found.items():
            colour, mark = looks[name]
            whole = fit if name == NAMES[1] else len(LENGTHS)
            axes.plot(LENGTHS[:whole], values[:whole], color=colour, lw=2.2)
            axes.plot(LENGTHS[whole - 1 :], values[whole - 1 :], color=colour, ls=":", lw=2.2)
            axes.plot(LENGTHS, values, color=colour, ls="", marker=mark, ms=5)
            where = (LENGTHS[-1], values[-1]), (LENGTHS[-1] * 1.1, values[-1])
            axes.annotate(name, *where, va="center", color=INK, annotation_clip=False)
        _axes(axes)
        plt.close(figure)
    return Still(figure, _words(found))


def _axes(axes: Any) -> None:
    axes.set(
        xscale="log", yscale="log", xlim=(0.95 * LENGTHS[0], 1.05 * LENGTHS[-1]), ylim=(0.9, 100)
    )
    axes.set(xlabel="tokens of each request", ylabel="times better with W = 1,024")
    axes.set_xticks(LENGTHS, [f"{n // 1024}K" for n in LENGTHS])
    axes.minorticks_off()
    axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    axes.grid(color=LINE, lw=0.5)
    axes.tick_params(colors=FAINT, labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)


def _words(found: dict[str, list[float]]) -> str:
    at = LENGTHS.index(16384)
    parts = "; ".join(f"{name} {v[at]:.1f} and {v[-1]:.1f}" for name, v in reversed(found.items()))
    return (
        f"What a window of {WINDOW:,} gains for the 7B model on a card of 80 GB, from 1,024 "
        f"tokens, where each gain is 1, to 65,536. At 16,384 and at 65,536 tokens: {parts}. "
        f"A line at {WISHED} times is crossed by the throughput before 4,096 tokens, by a batch "
        "of 8 before 16,384, and by one request only after 32,768. Past 8,192 the line of 8 is "
        "dotted: at 16,384 there is no room for 8 without the window."
    )
