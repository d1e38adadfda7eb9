"""How wrong scores are when slots stand in for positions, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..given_numpy import numbers
from ..given_rope import turned
from ..graded import draw
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style
from .words import listed

__all__ = ["STEPS", "WINDOW", "draw_slot_error", "slot_errors"]

WINDOW, STEPS, HEAD_DIM = 8, 40, 8
LUCKY = SLOT_COLOURS[0]


def slot_errors(window: int = WINDOW, steps: int = STEPS) -> list[float]:
    """Give, for each newest token, the largest error of a score over the stored keys.

    Token ``t`` has a query and a key of 8 numbers, drawn from a seed. A score is the scaled dot
    product of the two, turned by positions; its error is how far it is from the one turned by
    slots.
    """
    rng = draw(0, "slot-error")
    queries, keys = numbers(rng, steps, HEAD_DIM), numbers(rng, steps, HEAD_DIM)
    errors = []
    for newest in range(steps):
        held = np.arange(max(0, newest - window + 1), newest + 1)
        right = turned(keys[held], held) @ turned(queries[newest], newest)
        by_slot = turned(keys[held], held % window) @ turned(queries[newest], newest % window)
        errors.append(float(np.abs(right - by_slot).max() / HEAD_DIM**0.5))
    return errors


def draw_slot_error() -> Still:
    """Draw the errors of 40 steps with a window of 8. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    errors = np.array(slot_errors())
    steps = np.arange(STEPS)
    lucky = steps[(steps >= WINDOW) & ((steps + 1) % WINDOW == 0)]
    wrong = np.setdiff1d(steps[WINDOW:], lucky)
    top = 1.3 * errors.max()
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
        axes.axvspan(-0.5, WINDOW - 0.5, facecolor="#eef3f7", edgecolor=LINE, hatch="//", lw=0)
        axes.text((WINDOW - 1) / 2, top * 0.55, "before the\nfirst wrap:\nno error", ha="center",
                  va="center", bbox={"facecolor": "white", "edgecolor": "none"})  # fmt: skip
        axes.bar(wrong, errors[wrong], color=WRONG, width=0.72, label="wrong")
        axes.plot(lucky, errors[lucky], "o", mfc="white", mec=LUCKY, mew=2.4, ms=10, clip_on=False,
                  label="right by luck: the newest token lies in the last slot")  # fmt: skip
        for step in lucky:
            axes.text(step, top * 0.06, step, ha="center", color=LUCKY, fontweight="bold")
        axes.axhline(0, color=INK, lw=1)
        axes.set(xlabel="newest token", ylabel="largest error of a score")
        axes.set(xlim=(-0.5, STEPS - 0.5), ylim=(0, top))
        axes.set_xticks(range(0, STEPS, WINDOW))
        axes.tick_params(colors=FAINT, labelcolor=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="upper right", ncols=2)
        plt.close(figure)
    return Still(figure, _alt(errors, lucky))


def _alt(errors: Any, lucky: Any) -> str:
    return (
        "Bars of the largest error of a score against the newest token, for a window of "
        f"{WINDOW}. There is no error for tokens 0 to {WINDOW - 1}. From token {WINDOW} on almost "
        f"every token has an error, up to {errors.max():.1f}; tokens {listed(lucky)} have none and "
        "are marked right by luck."
    )
