"""A ring with slack through drafting, taking back and refusing: one row a moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy_ring import NumpyRing, RewindError
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, text_style
from .words import listed, spelt

__all__ = ["draw_rewind", "rewind_moments"]

WINDOW, SLACK, SEEN = 3, 2, 7
Moment = tuple[str, list[int], list[int], str]  # what happens, slots, drafted, what it says


def rewind_moments() -> list[Moment]:
    """Run a ring and note each moment."""
    ring = NumpyRing(WINDOW, kv_heads=1, head_dim=1, slack=SLACK)
    moments = []
    for what, n in (("append", SEEN), ("draft", 2), ("back", 2), ("back", 1), ("append", 1)):
        drafted = list(range(ring.seen, ring.seen + n)) if what == "draft" else []
        said = _do(ring, what, n)
        tokens = f"{n} token" if n == 1 else f"{n} tokens"
        name = f"take back {n}" if what == "back" else f"{what} {tokens}"
        moments.append((name, ring.positions.tolist(), drafted, said))
    return moments


def _do(ring: NumpyRing, what: str, n: int) -> str:
    if what != "back":
        token = np.zeros((1, n, 1), np.float32)
        ring.append(token, token)
        return f"the text has {ring.seen} tokens"
    length = ring.seen - n
    needed = range(max(0, length - WINDOW), length)
    gone = [str(position) for position in needed if position not in ring.positions]
    try:
        ring.rewind(n)
    except RewindError:
        return f"needs {needed[0]} to {needed[-1]}, {' '.join(gone)} is gone: refused"
    return f"needs {needed[0]} to {needed[-1]}: all there"


def draw_rewind() -> Still:
    """Draw the moments from top to bottom. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4))
        for slot in range(WINDOW + SLACK):
            axes.text(slot, -0.8, f"slot {slot}", ha="center", va="center", color=FAINT)
        for row, (name, slots, drafted, said) in enumerate(rewind_moments()):
            refused = said.endswith("refused")
            axes.text(-0.8, row, name, ha="right", va="center")
            for slot, held in enumerate(slots):
                _box(axes, slot, row, held, held in drafted)
            axes.text(5.0, row, said, ha="left", va="center", fontsize=11,
                      fontweight="bold" if refused else "normal", color=INK,
                      )  # fmt: skip
        axes.text(0, 5.05, "hatched: a draft", ha="left", va="center", color=FAINT)
        axes.text(2.6, 5.05, "dashed: an empty slot", ha="left", va="center", color=FAINT)
        axes.set(xlim=(-2.6, 9.4), ylim=(5.4, -1.2))
        axes.axis("off")
        figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=0.0)
        plt.close(figure)
    return Still(figure, _alt(rewind_moments()))


def _alt(moments: list[Moment]) -> str:
    full, tried, back, refused, after = (slots for _, slots, _, _ in moments)
    drafts, gone = moments[1][2], moments[3][3].partition(", ")[2].partition(":")[0]
    over = [old for old, new in zip(full, tried, strict=True) if new in drafts]
    empty = [slot for slot, held in enumerate(back) if held < 0]
    (written,) = (slot for slot, held in enumerate(after) if held != refused[slot])
    return (
        f"{spelt(len(moments)).capitalize()} rows of {spelt(len(full))} slots. After {spelt(SEEN)} "
        f"tokens the slots hold {', '.join(map(str, full))}. {spelt(len(drafts)).capitalize()} "
        f"drafts, {listed(drafts)}, stand hatched over {listed(over)}. Both are taken back: slots "
        f"{listed(empty)} are empty. Taking back one more is refused, since {gone}. One token, "
        f"{after[written]}, goes into slot {written}."
    )


def _box(axes: Any, slot: int, row: int, held: int, drafted: bool) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((slot - 0.45, row - 0.4), 0.9, 0.8, lw=1)
    if held < 0:
        box.set(facecolor="white", edgecolor=LINE, linestyle="--", lw=1.5)
    elif drafted:
        box.set(facecolor="white", edgecolor=INK, hatch="////")
    else:
        box.set(facecolor=SLOT_COLOURS[4], edgecolor=INK)
    axes.add_patch(box)
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.2} if drafted else None
    text = "" if held < 0 else held
    axes.text(slot, row, text, ha="center", va="center", fontweight="bold", bbox=back)
