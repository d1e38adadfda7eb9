"""Which key/value head each query head reads."""

from __future__ import annotations

from typing import Any

from .still import Still
from .style import INK, digit_colour, slot_colour, text_style
from .words import listed, spelt

__all__ = ["draw_groups"]

TOP, BOTTOM = 2.0, 0.4
WIDTH, HEIGHT = 1.7, 0.62


def draw_groups(heads: int = 6, kv_heads: int = 2) -> Still:
    """Draw query heads above the key/value heads that they read: 9 by 2.8 inches."""
    import matplotlib.pyplot as plt

    group = heads // kv_heads
    places = [2.0 * head for head in range(heads)]
    homes = [sum(places[head * group : (head + 1) * group]) / group for head in range(kv_heads)]
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 2.8))
        for head, x in enumerate(places):
            home = head // group
            axes.plot([x, homes[home]], [TOP, BOTTOM], color=INK, lw=3.6, zorder=0)
            axes.plot([x, homes[home]], [TOP, BOTTOM], color=slot_colour(home), lw=2.4, zorder=0.5)
            _box(axes, x, TOP, f"query\nhead {head}", home)
        for home, x in enumerate(homes):
            _box(axes, x, BOTTOM, f"key/value\nhead {home}", home)
        axes.text(-1.2, TOP, f"q\n({heads}, head_dim)", ha="right", va="center")
        axes.text(-1.2, BOTTOM, f"keys\n({kv_heads}, slots, head_dim)", ha="right", va="center")
        axes.set(xlim=(-4.4, places[-1] + 1.1), ylim=(-0.1, 2.5))
        axes.axis("off")
        figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=0.0)
        plt.close(figure)
    return Still(figure, _alt(heads, kv_heads))


def _alt(heads: int, kv_heads: int) -> str:
    group = heads // kv_heads
    links = [
        f"{listed(range(home * group, (home + 1) * group))} {'to' if home else 'are linked to'} "
        f"key/value head {home}"
        for home in range(kv_heads)
    ]
    return (
        f"{spelt(heads).capitalize()} query heads in a row, {spelt(kv_heads)} key/value heads "
        f"below. Query heads {', query heads '.join(links)}."
    )


def _box(axes: Any, x: float, y: float, text: str, home: int) -> None:
    from matplotlib.patches import Rectangle

    corner = (x - WIDTH / 2, y - HEIGHT / 2)
    axes.add_patch(Rectangle(corner, WIDTH, HEIGHT, facecolor=slot_colour(home), edgecolor=INK))
    axes.text(x, y, text, ha="center", va="center", color=digit_colour(home), fontsize=10)
