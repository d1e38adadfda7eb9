"""Three rings of one batch at different ages: what each slot holds, and each row's next write."""

from __future__ import annotations

from .still import Still
from .style import FAINT, INK, LINE, digit_colour, slot_colour, text_style
from .words import spelt

__all__ = ["SEEN", "WINDOW", "cursors", "draw_cursors"]

SEEN, WINDOW = (10, 6, 3), 4


def cursors() -> tuple[list[list[int]], list[int]]:
    """Run it: give the positions in the slots of each row, and the slot of its next write."""
    import torch

    from ..torch_ring import TorchRing

    ring = TorchRing(WINDOW, batch=len(SEEN), kv_heads=1, head_dim=1)
    tokens = torch.zeros(len(SEEN), 1, max(SEEN), 1)
    ring.append(tokens, tokens, lengths=list(SEEN))
    held = ring.positions.clone()
    ring.append(tokens[:, :, :1], tokens[:, :, :1])
    return held.tolist(), (ring.positions != held).nonzero()[:, 1].tolist()


def draw_cursors() -> Still:
    """Draw the rows from top to bottom. Gives a still of 9 by 3.2 inches."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    held, following = cursors()
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.2))
        for slot in range(WINDOW):
            axes.text(slot, -0.85, f"slot {slot}", ha="center", va="center", color=FAINT)
        for row, (positions, next_slot) in enumerate(zip(held, following, strict=True)):
            axes.text(-0.75, row, f"row {row}, {SEEN[row]} seen", ha="right", va="center")
            for slot, position in enumerate(positions):
                empty = position < 0
                face = "white" if empty else slot_colour(slot)
                box = Rectangle((slot - 0.45, row - 0.3), 0.9, 0.6, facecolor=face, lw=1)
                box.set(edgecolor=LINE if empty else INK, linestyle="--" if empty else "-")
                axes.add_patch(box)
                axes.text(
                    slot,
                    row,
                    "empty" if empty else str(position),
                    ha="center",
                    va="center",
                    color=FAINT if empty else digit_colour(slot),
                    fontweight="normal" if empty else "bold",
                )
            axes.plot(next_slot, row - 0.4, "v", color=INK, markersize=9, clip_on=False)
            axes.text(3.75, row, f"next write: position {SEEN[row]} to slot {next_slot}",
                      ha="left", va="center")  # fmt: skip
        axes.plot(-0.35, 2.75, "v", color=FAINT, markersize=8)
        axes.text(-0.2, 2.75, "next write; the numbers in the slots are positions",
                  ha="left", va="center", color=FAINT)  # fmt: skip
        axes.set(xlim=(-2.6, 7.0), ylim=(3.0, -1.1))
        axes.axis("off")
        figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=0.0)
        plt.close(figure)
    return Still(figure, _alt(held, following))


def _alt(held: list[list[int]], following: list[int]) -> str:
    rows = []
    for row, (positions, next_slot) in enumerate(zip(held, following, strict=True)):
        stored = ", ".join(str(position) for position in positions if position >= 0)
        said = f"Row {row} has seen {SEEN[row]}{'' if row else ' tokens'} and holds {stored}"
        full = min(positions) >= 0
        rest = f"; its next write goes to slot {next_slot}."
        rows.append(
            said + (rest if full else f" and an empty slot {next_slot}, which is its next.")
        )
    shape = f"{spelt(len(held)).capitalize()} rows of {spelt(WINDOW)} slots."
    return " ".join([shape, *rows])
