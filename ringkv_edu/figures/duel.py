"""Recall against the budget, for the course's policies: what the duel of lesson 11 is about."""

from __future__ import annotations

from typing import Any

from ..duel.contest import play_rival
from ..duel.rivals import RIVALS, keep_all
from .still import Still
from .style import FAINT, INK, SLOT_COLOURS, quiet_axes, text_style

__all__ = ["BUDGETS", "draw_duel", "recalls"]

BUDGETS, TALKS = (1, 2, 4, 8, 16), 20  # KiB
LOOKS = {
    "window": (0, "o", "-", -6),
    "window + sinks": (1, "s", "-", -10),
    "summaries": (6, "^", "-", 6),
    "by score": (3, "v", "--", -5),
    "fewer bits": (2, "D", "-", 1),
    "retrieval": (7, "P", "--", 13),
}
"""Colour, mark and line of each policy, and how far its name stands above its end, in points."""


def recalls() -> tuple[dict[str, list[float]], float]:
    """Give each policy's recall at each budget, and that of keeping everything."""
    found = {
        name: [play_rival(make, kib * 1024, range(TALKS)).recall for kib in BUDGETS]
        for name, make in RIVALS.items()
    }
    return found, play_rival(lambda: keep_all, 2**40, range(TALKS)).recall


def draw_duel() -> Still:
    """Draw recall against the budget, on twenty talks. Gives a still of 9 by 3.8 inches."""
    import matplotlib.pyplot as plt

    found, bound = recalls()
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
        axes.axhline(bound, color=FAINT, lw=1.2, ls=":", zorder=0)
        axes.text(1, bound + 0.03, f"keeping everything: {bound:.2f}", color=FAINT)
        for name, shares in found.items():
            _line(axes, name, shares)
        axes.set(xscale="log", ylim=(0, 1.02), xlim=(0.93, 32))
        axes.set(xlabel="budget in KiB (logarithmic)", ylabel="recall")
        axes.set_xticks(BUDGETS, [str(kib) for kib in BUDGETS])
        axes.minorticks_off()
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        quiet_axes(axes)
        plt.close(figure)
    return Still(figure, _alt(found, bound))


def _line(axes: Any, name: str, shares: list[float]) -> None:
    place, mark, dashes, above = LOOKS[name]
    colour = SLOT_COLOURS[place]
    axes.plot(BUDGETS, shares, mark, ls=dashes, color=colour, ms=7, lw=2, mec="white", label=name)
    axes.annotate(name, (BUDGETS[-1], shares[-1]), (9, above), textcoords="offset points",
                  va="center", color=INK)  # fmt: skip


def _alt(found: dict[str, list[float]], bound: float) -> str:
    budgets = ", ".join(str(kib) for kib in BUDGETS)
    each = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares)}" for name, shares in found.items()
    )
    return (
        f"Recall against the budget on {TALKS} talks, at {budgets} KiB. {each.capitalize()}. "
        f"Dotted: keeping everything, {bound:.2f}."
    )
