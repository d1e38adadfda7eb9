"""What four of lesson 10's buggy caches see, beside what the rule lets them see."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..given_cases import HalfWindow, LastKeys, RollingStart, TwoWindows
from ..visibility import visibility_mask
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style
from .words import listed

__all__ = ["TOKENS", "WINDOW", "draw_case_files", "seen_by_case"]

WINDOW, TOKENS = 4, 10


def seen_by_case() -> dict[str, Any]:
    """Run the four toys on ten tokens; give (query, key) masks by what the panel is called."""
    return {
        "case 1, a chunk": _mask(TwoWindows(WINDOW).step(range(TOKENS))),
        "case 2, one by one": _mask(_started()),
        "case 3, a chunk": _mask(_cut()),
        "case 4, one by one": _mask(_halved()),
    }


def _started() -> list[list[Any]]:
    cache, rows = RollingStart(WINDOW), []
    for token in range(TOKENS):
        cache.write(token)
        rows.append(cache.read())
    return rows


def _cut() -> list[list[Any]]:
    means = LastKeys(WINDOW).step(list(np.eye(TOKENS)))  # type: ignore[arg-type]
    return [np.flatnonzero(mean > 0).tolist() if np.ndim(mean) else [] for mean in means]


def _halved() -> list[list[Any]]:
    cache, rows = HalfWindow(WINDOW), []
    for token in range(TOKENS):
        cache.append(token)
        rows.append([key for key, sees in zip(cache.held(), cache.mask(), strict=True) if sees])
    return rows


def _mask(rows: list[list[Any]]) -> Any:
    mask = np.zeros((TOKENS, TOKENS), bool)
    for query, keys in enumerate(rows):
        mask[query, [key for key in keys if key is not None]] = True
    return mask


def draw_case_files() -> Still:
    """Draw four grids, queries by keys. Gives a still of 9 by 3.1 inches."""
    import matplotlib.pyplot as plt

    right = visibility_mask(range(TOKENS), range(TOKENS), WINDOW)
    seen = seen_by_case()
    with plt.rc_context(text_style() | {"font.size": 9}):
        figure, panels = plt.subplots(1, 4, figsize=(9, 3.1))
        for axes, (name, mask) in zip(panels, seen.items(), strict=True):
            _panel(axes, name, mask, right)
        _legend(figure)
        figure.subplots_adjust(left=0.035, right=0.995, top=0.9, bottom=0.2, wspace=0.08)
        plt.close(figure)
    return Still(figure, _alt(seen, right))


def _alt(seen: dict[str, Any], right: Any) -> str:
    parts = []
    for name, mask in seen.items():
        more, fewer = (_queries(wrong.any(axis=1)) for wrong in (mask & ~right, right & ~mask))
        found = (("too much", more), ("too little", fewer))
        said = [f"{what} at queries {at}" for what, at in found if at]
        parts.append(f"{name}: {listed(said)}")
    return (
        f"Four grids of {TOKENS} queries by {TOKENS} keys, for a window of {WINDOW}. What is seen "
        f"and what is missing differs from the band of the rule: {'; '.join(parts)}."
    )


def _queries(wrong: Any) -> str:
    found = np.flatnonzero(wrong)
    if not found.size:
        return ""
    return str(found[0]) if found.size == 1 else f"{found[0]} to {found[-1]}"


def _panel(axes: Any, name: str, mask: Any, right: Any) -> None:
    for query in range(TOKENS):
        for key in range(TOKENS):
            _cell(axes, key, query, KINDS[bool(mask[query, key]), bool(right[query, key])])
    axes.set(xlim=(-0.6, TOKENS - 0.4), ylim=(TOKENS - 0.4, -0.6), aspect="equal")
    axes.set_title(name, fontsize=10, fontweight="bold")
    axes.set_xticks(range(0, TOKENS, 3))
    axes.set_yticks(range(0, TOKENS, 3))
    axes.tick_params(length=0, labelsize=8, colors=FAINT)
    axes.set_xlabel("key", color=FAINT, labelpad=1)
    if name.startswith("case 1"):
        axes.set_ylabel("query", color=FAINT, labelpad=1)
    for side in axes.spines.values():
        side.set_visible(False)


KINDS: dict[tuple[bool, bool], str] = {
    (True, True): "seen", (True, False): "more", (False, True): "missing", (False, False): "blank",
}  # fmt: skip
STYLES: dict[str, tuple[str, str, str]] = {  # face, edge, sign
    "seen": (SLOT_COLOURS[0], INK, ""), "more": ("white", WRONG, "+"),
    "missing": (WRONG, INK, "–"), "blank": ("white", LINE, ""),
}  # fmt: skip


def _cell(axes: Any, x: float, y: float, kind: str, size: float = 0.84) -> None:
    from matplotlib.patches import Rectangle

    face, edge, sign = STYLES[kind]
    where = (x - size / 2, y - size / 2)
    axes.add_patch(Rectangle(where, size, size, facecolor=face, edgecolor=edge, lw=0.8))
    axes.text(x, y, sign, ha="center", va="center", fontsize=9, fontweight="bold", color="black")


def _legend(figure: Any) -> None:
    axes = figure.add_axes((0.0, 0.0, 1.0, 0.1))
    axes.set(xlim=(0, 45), ylim=(1.55, 0))
    axes.axis("off")
    entries = (("seen", "seen, as it should be"), ("more", "seen, and should not be"),
               ("missing", "should be seen, and is not"))  # fmt: skip
    for x, (kind, words) in zip((7, 19, 32), entries, strict=True):
        _cell(axes, x, 0.75, kind, 0.9)
        axes.text(x + 1.0, 0.75, words, ha="left", va="center")
