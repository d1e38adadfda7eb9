"""What three empty slots take from one key, without a mask and with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .still import Still
from .style import INK, SLOT_COLOURS, WRONG, text_style
from .words import spelt

__all__ = ["SCORES", "draw_mask_weights", "weights"]

SCORES = (0.3, 0.0, 0.0, 0.0)
"""One token in slot 0, and three empty slots: their keys are zeros, so their scores are, too."""


def weights(scores: Sequence[float], seen: Sequence[bool]) -> list[float]:
    """Give the softmax over the scores that are seen, and 0 for the others."""
    parts = [math.exp(score) if see else 0.0 for score, see in zip(scores, seen, strict=True)]
    return [part / sum(parts) for part in parts]


def draw_mask_weights() -> Still:
    """Draw both sets of weights as bars with their numbers: 9 by 3 inches."""
    import matplotlib.pyplot as plt

    stored = [True, False, False, False]
    masks = {"no mask": [True] * 4, "mask from the stored positions": stored}
    with plt.rc_context(text_style()):
        figure, panels = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
        for axes, (title, seen) in zip(panels, masks.items(), strict=True):
            for slot, weight in enumerate(weights(SCORES, seen)):
                style = {"color": SLOT_COLOURS[0]}
                if not stored[slot]:  # hatched, so that it does not depend on colour
                    style = {"facecolor": "white", "edgecolor": WRONG, "hatch": "////"}
                axes.bar(slot, weight, 0.7, **style)
                axes.text(slot, weight + 0.02, f"{weight:.2f}", ha="center", color=INK)
            names = [f"slot {slot}\n{'token 0' if stored[slot] else 'empty'}" for slot in range(4)]
            axes.set_xticks(range(4), names)
            axes.set(title=title, ylim=(0, 1.15))
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("weight")
        plt.close(figure)
    return Still(figure, _alt(*(weights(SCORES, seen) for seen in masks.values())))


def _alt(bare: list[float], masked: list[float]) -> str:
    slots, empty = spelt(len(SCORES)), spelt(len(SCORES) - 1)
    return (
        f"Two bar charts of attention weights over {slots} slots. Without a mask, token "
        f"0 in slot 0 gets {bare[0]:.2f} and each of the {empty} empty slots {bare[1]:.2f}. With a "
        f"mask from the stored positions token 0 gets {masked[0]:.2f} and the empty slots "
        f"{masked[1]:.2f}."
    )
