"""Slot against position, as a still picture of one step of a trace."""

from __future__ import annotations

import math
from typing import Any

from ..trace import EMPTY, Step, Trace
from .still import Still
from .style import FAINT, INK, LINE, digit_colour, slot_colour, text_style
from .words import listed, spelt

__all__ = ["draw_ring"]

TOP, BOTTOM = 2.5, 0.6  # heights of the two lanes, in data units
BOX, SPREAD = 0.84, 1.5  # width of a box, and the way from one slot to the next


def draw_ring(trace: Trace, next_slot: int) -> Still:
    """Draw the last step of a trace: ring, line of positions, row of slots, and their links.

    ``next_slot`` is where the next write goes. Gives a still of 9 by 3.4 inches.
    """
    import matplotlib.pyplot as plt

    step = trace.steps[-1]
    with plt.rc_context(text_style()):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), width_ratios=(1, 2.1))
        _draw_circle(left, step, next_slot)
        _draw_lanes(right, step, next_slot)
        figure.subplots_adjust(left=0.0, right=0.99, top=0.98, bottom=0.02, wspace=0.02)
        plt.close(figure)
    return Still(figure, _alt(step, next_slot))


def _alt(step: Step, next_slot: int) -> str:
    held = [position for position in step.slots if position != EMPTY]
    slots = listed(_slot_in_words(slot, at) for slot, at in enumerate(step.slots))
    size, text = spelt(len(step.slots)), spelt(step.position + 1)
    crossed = " The links between positions and slots cross." if held != sorted(held) else ""
    return (
        f"A ring of {size} slots after {text} tokens, beside a line of the positions 0 to "
        f"{step.position}. The window covers positions {min(held)} to {max(held)}. "
        f"{slots.capitalize()}; the next write goes to slot {next_slot}.{crossed}"
    )


def _slot_in_words(slot: int, position: int) -> str:
    if position == EMPTY:
        return f"slot {slot} is empty"
    return f"slot {slot} holds {'' if slot else 'position '}{position}"


def _draw_circle(axes: Any, step: Step, next_slot: int) -> None:
    from matplotlib.patches import Wedge

    count = len(step.slots)
    for slot, held in enumerate(step.slots):
        start = 90 - slot * 360 / count
        middle = math.radians(start - 180 / count)
        wedge = Wedge((0, 0), 1, start - 360 / count + 1, start - 1, width=0.45)
        wedge.set(facecolor="white" if held == EMPTY else slot_colour(slot), edgecolor=INK, lw=1)
        axes.add_patch(wedge)
        x, y = math.cos(middle), math.sin(middle)
        if held != EMPTY:
            axes.text(0.77 * x, 0.77 * y, held, ha="center", va="center", fontsize=17,
                      fontweight="bold", color=digit_colour(slot))  # fmt: skip
        axes.text(1.22 * x, 1.22 * y, f"slot {slot}", ha="center", va="center", color=FAINT)
        if slot == next_slot:
            axes.annotate("", (0.53 * x, 0.53 * y), (0.16 * x, 0.16 * y),
                          arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 2})  # fmt: skip
            axes.text(-0.2 * x, -0.2 * y, "next\nwrite", ha="center", va="center", fontsize=10)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
    axes.axis("off")


def _draw_lanes(axes: Any, step: Step, next_slot: int) -> None:
    newest, count = step.position, len(step.slots)
    places = [newest / 2 + SPREAD * (slot - (count - 1) / 2) for slot in range(count)]
    for position in range(newest + 1):
        slot = step.slots.index(position) if position in step.slots else None
        _box(axes, position, TOP, position, slot)
        if slot is not None:
            _link(axes, position, places[slot], slot)
    for slot, (x, held) in enumerate(zip(places, step.slots, strict=True)):
        _box(axes, x, BOTTOM, "" if held == EMPTY else held, slot)
        axes.text(x, BOTTOM - 0.68, f"slot {slot}", ha="center", va="center", color=FAINT)
    stored = [held for held in step.slots if held != EMPTY]
    _bracket(axes, min(stored), max(stored), f"window: {len(stored)} positions")
    x, arrow = places[next_slot], {"arrowstyle": "-|>", "color": INK}
    axes.annotate(
        "next write", (x, BOTTOM - 0.92), (x, BOTTOM - 1.5), ha="center", arrowprops=arrow
    )
    axes.text(-1.0, TOP, "position\nin the text", ha="right", va="center")
    axes.text(-1.0, BOTTOM, "slot\nin memory", ha="right", va="center")
    axes.set(xlim=(-3.6, newest + 0.7), ylim=(-1.3, 4.0))
    axes.axis("off")


def _box(axes: Any, x: float, y: float, text: object, slot: int | None) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((x - BOX / 2, y - 0.4), BOX, 0.8, lw=1)
    if slot is None:  # evicted: hatched, so that it does not depend on colour
        box.set(facecolor="white", edgecolor=LINE, hatch="////")
    else:
        box.set(facecolor=slot_colour(slot), edgecolor=INK)
    axes.add_patch(box)
    colour = FAINT if slot is None else digit_colour(slot)
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.0} if slot is None else None
    axes.text(x, y, text, ha="center", va="center", color=colour, fontweight="bold", bbox=back)


def _link(axes: Any, x_top: float, x_bottom: float, slot: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    top, bottom = TOP - 0.4, BOTTOM + 0.4
    middle = (top + bottom) / 2
    curve = Path(
        [(x_top, top), (x_top, middle), (x_bottom, middle), (x_bottom, bottom)],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    for colour, width in ((INK, 3.6), (slot_colour(slot), 2.4)):  # a dark casing for light colours
        axes.add_patch(PathPatch(curve, fill=False, edgecolor=colour, lw=width, zorder=0.5))


def _bracket(axes: Any, first: int, last: int, text: str) -> None:
    height, ends = TOP + 0.72, (first - BOX / 2, last + BOX / 2)
    axes.plot([ends[0], ends[0], ends[1], ends[1]], [height - 0.18, height, height, height - 0.18],
              color=INK, lw=1.4)  # fmt: skip
    axes.text(sum(ends) / 2, height + 0.3, text, ha="center", va="center")
