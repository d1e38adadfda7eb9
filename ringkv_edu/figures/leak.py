"""Two texts packed into one call: the attention weights without and with a sequence test."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style
from .words import spelt

__all__ = ["SIZES", "WINDOW", "draw_leak", "names", "shares", "weights"]

SIZES, WINDOW, HEAD_DIM = (6, 5), 4, 8
Array = npt.NDArray[Any]


def names() -> list[str]:
    """Name the packed tokens: a0, a1, ... b0, ..."""
    return [
        f"{name}{token}" for name, size in zip("ab", SIZES, strict=True) for token in range(size)
    ]


def weights(isolated: bool) -> Array:
    """Give the attention weights (n, n) of seeded random queries and keys.

    Not isolated: the place in the pack is the position, and no sequence is asked for.
    """
    rng = np.random.default_rng(5)
    n = sum(SIZES)
    q, k = rng.normal(size=(2, n, HEAD_DIM))
    sequence = np.repeat([0, 1], SIZES)
    positions = np.concatenate([np.arange(size) for size in SIZES]) if isolated else np.arange(n)
    distance = positions[:, None] - positions
    seen = (distance >= 0) & (distance < WINDOW)
    if isolated:
        seen &= sequence[:, None] == sequence
    scores = np.where(seen, q @ k.T / np.sqrt(HEAD_DIM), -np.inf)
    parts: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    parts /= parts.sum(axis=1, keepdims=True)
    return parts


def shares(isolated: bool) -> Array:
    """Give how much of the weight of each token of b lies on a."""
    first: Array = weights(isolated)[SIZES[0] :, : SIZES[0]].sum(axis=1)
    return first


def draw_leak() -> Still:
    """Draw both grids side by side: 9 by 4.9 inches."""
    import matplotlib.pyplot as plt

    titles = {False: "no sequence test", True: "with the sequence test"}
    with plt.rc_context(text_style()):
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.9))
        for axes, (isolated, title) in zip(panels, titles.items(), strict=True):
            _grid(axes, weights(isolated))
            axes.set_title(title)
        panels[0].set_ylabel("query")
        says = "key; the numbers are weights in percent; hatched: of the other text"
        figure.text(0.52, 0.02, says, ha="center", va="bottom", color=FAINT)
        figure.subplots_adjust(left=0.07, right=0.99, top=0.93, bottom=0.12, wspace=0.1)
        plt.close(figure)
    return Still(figure, _alt())


def _alt() -> str:
    leaking = int((shares(isolated=False) > 0).sum())
    first, second = map(spelt, SIZES)
    return (
        "Two grids of attention weights, one row for each query, for two texts packed into one "
        f"call: a, {first} tokens, and b, {second}; W = {WINDOW}. Left, with no sequence test, the "
        f"first {spelt(leaking)} queries of b put weight on tokens of a, hatched. Right, with the "
        "test, the grid falls into two blocks."
    )


def _grid(axes: Any, table: Array) -> None:
    from matplotlib.patches import Rectangle

    n, border = len(table), SIZES[0]
    for row in range(n):
        for column in range(n):
            weight = table[row, column]
            box = Rectangle(
                (column - 0.5, row - 0.5), 1, 1, facecolor="white", edgecolor=LINE, lw=0.6
            )
            other = (row < border) != (column < border)
            if weight > 0 and other:
                box.set(edgecolor=WRONG, hatch="////", lw=1.2, zorder=2)
            elif weight > 0:
                box.set(facecolor=SLOT_COLOURS[4])
            axes.add_patch(box)
            if weight > 0:
                back = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if other else None
                axes.text(column, row, f"{100 * weight:.0f}", ha="center", va="center",
                          fontsize=9.5, color=INK, bbox=back, zorder=3)  # fmt: skip
    for line in (axes.axhline, axes.axvline):
        line(border - 0.5, color=INK, lw=1.6, zorder=4)
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(n), names())
    axes.set_yticks(range(n), names())
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
