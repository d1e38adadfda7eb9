"""Colours and sizes of the course's still pictures.

Colour stands for a slot and is never the only sign: every slot carries its number, too. Six
Okabe-Ito colours and two more, told apart under the three common kinds of colour blindness;
vermillion is kept for what is wrong.
"""

from __future__ import annotations

from typing import Any

SLOT_COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#882255", "#8B6D3F",
)  # fmt: skip
DARK_SLOTS = {"#0072B2", "#882255", "#8B6D3F"}  # white digits on these, black on the others
WRONG = "#D55E00"
INK, FAINT, LINE = "#1a1a1a", "#6b6b6b", "#b9b9b9"
CJK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei",
    "Microsoft YaHei", "SimHei", "PingFang SC", "Hiragino Sans GB", "Arial Unicode MS",
)  # fmt: skip


def cjk_font() -> str:
    """Name an installed font with Chinese characters, or give an empty string."""
    from matplotlib import font_manager

    have = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in CJK_FONTS if name in have), "")


def text_style() -> dict[str, Any]:
    """Give the rc settings of the course's text; Chinese characters fall back to ``cjk_font``."""
    return {"font.family": [name for name in ("DejaVu Sans", cjk_font()) if name], "font.size": 11}


def quiet_axes(axes: Any) -> None:
    """Give axes a thin grid behind what is drawn, faint ticks, and no frame on top and right."""
    axes.grid(color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(colors=FAINT, labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)


def slot_colour(slot: int) -> str:
    """Give a slot's colour; after eight slots they repeat, and the numbers tell them apart."""
    return SLOT_COLOURS[slot % len(SLOT_COLOURS)]


def digit_colour(slot: int) -> str:
    """Give the colour in which a number is readable on a slot's colour."""
    return "white" if slot_colour(slot) in DARK_SLOTS else "black"
