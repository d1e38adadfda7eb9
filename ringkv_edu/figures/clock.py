"""One pair of a query and a key as two hands of a clock, at two places with the same distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..given_rope import turned
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, text_style
from .words import listed

__all__ = ["PLACES", "draw_clock", "hands"]

PLACES = ((3, 5), (20, 22))
"""The positions of key and query in the left and in the right clock."""

KEY, QUERY = SLOT_COLOURS[0], INK


def hands(place: tuple[int, int]) -> tuple[float, float]:
    """Give the angles of key and query, in radians from 0 to 2 pi, both starting at (1, 0)."""
    angles = [turned([1.0, 0.0], position) for position in place]
    key, query = (math.atan2(y, x) % (2 * math.pi) for x, y in angles)
    return key, query


def draw_clock() -> Still:
    """Draw both clocks. Gives a still of 9 by 3.6 inches."""
    import matplotlib.pyplot as plt

    with plt.rc_context(text_style()):
        figure, both = plt.subplots(1, 2, figsize=(9, 3.6))
        for axes, place in zip(both, PLACES, strict=True):
            _draw_one(axes, place)
        figure.subplots_adjust(left=0.0, right=1.0, top=0.9, bottom=0.02, wspace=0.0)
        plt.close(figure)
    return Still(figure, _alt())


def _alt() -> str:
    (left, right), angles = PLACES, [hands(place) for place in PLACES]
    between = [f"{(query - key) % (2 * math.pi):.0f} radians" for key, query in angles]
    (left_key, left_query), (right_key, right_query) = (map(_way, some) for some in angles)
    return (
        f"Two clocks. On the left the key at position {left[0]} points {left_key} and the query at "
        f"position {left[1]} points {left_query}; the angle from key to query is {between[0]}. On "
        f"the right the key at position {right[0]} points {right_key} and the query at position "
        f"{right[1]} points {right_query}; the angle is again {between[1]}."
    )


def _way(angle: float) -> str:
    """Say where a hand points; a fifth of its length to a side is not worth a word."""
    x, y = math.cos(angle), math.sin(angle)
    ways = [("up" if y > 0 else "down") if abs(y) > 0.2 else ""]
    side = "right" if x > 0 else "left"
    ways.append((f"to the {side}" if ways[0] else side) if abs(x) > 0.2 else "")
    return listed(way for way in ways if way)


def _draw_one(axes: Any, place: tuple[int, int]) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=LINE, lw=1.4))
    axes.plot([0, 1.0], [0, 0], color=LINE, lw=1.2, ls=":")
    axes.text(1.06, 0, "position 0", va="center", color=FAINT)
    key, query = hands(place)
    for angle, name, position, colour, line in (
        (key, "key", place[0], KEY, "-"),
        (query, "query", place[1], QUERY, "--"),
    ):
        x, y = math.cos(angle), math.sin(angle)
        axes.annotate("", (x, y), (0, 0), arrowprops={
            "arrowstyle": "-|>", "color": colour, "lw": 3, "ls": line, "shrinkA": 0, "shrinkB": 0,
        })  # fmt: skip
        axes.text(1.1 * x, 1.13 * y, f"{name} at {position}", color=colour, fontweight="bold",
                  ha="left" if x > 0 else "right", va="center")  # fmt: skip
    between = (query - key) % (2 * math.pi)
    arc = np.linspace(key, key + between, 60)
    axes.plot(0.38 * np.cos(arc), 0.38 * np.sin(arc), color=INK, lw=1.6)
    middle = key + between / 2
    axes.text(0.62 * math.cos(middle), 0.6 * math.sin(middle), f"{between:.0f} rad", ha="center",
              va="center", fontsize=12, fontweight="bold")  # fmt: skip
    axes.set_title(f"key at {place[0]}, query at {place[1]}: 2 apart")
    axes.set(xlim=(-2.0, 2.0), ylim=(-1.3, 1.3), aspect="equal")
    axes.axis("off")
