"""How often each position is counted in an article's demo, and by the law."""

from __future__ import annotations

from itertools import groupby

from ..given_summaries import PrefixSlidingCache
from .still import Still
from .style import FAINT, INK, SLOT_COLOURS, WRONG, text_style
from .words import times

__all__ = ["EVERY", "TOKENS", "WINDOW", "demo_counts", "draw_counted"]

WINDOW, EVERY, TOKENS = 6, 3, 15


def demo_counts() -> tuple[list[int], list[int]]:
    """Give for each position how often the window and how often summaries count it."""
    cache = PrefixSlidingCache(WINDOW, EVERY)
    for position in range(TOKENS):
        cache.add(position)
    exact = [int(p in cache.window) for p in range(TOKENS)]
    covered = [sum(a <= p <= b for a, b in cache.summaries) for p in range(TOKENS)]
    return exact, covered


def draw_counted() -> Still:
    """Draw the counts after 15 tokens as stacked boxes. Gives a still of 9 by 2.9 inches."""
    import matplotlib.pyplot as plt

    exact, covered = demo_counts()
    places = list(range(TOKENS))
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 2.9), layout="constrained")
        axes.bar(places, exact, color=SLOT_COLOURS[0], edgecolor="white", label="by the window")
        for level in range(max(covered)):
            some = [p for p in places if covered[p] > level]
            below = [exact[p] + level for p in some]
            label = "" if level else "by a summary"
            axes.bar(some, [1] * len(some), bottom=below, color=WRONG, edgecolor="white",
                     hatch="//", label=label)  # fmt: skip
        axes.axhline(1, color=INK, lw=1.5, ls="--")
        axes.text(TOKENS - 0.35, 1.0, "once:\nthe law", va="center", ha="left", color=INK)
        axes.set(xlabel="position", ylabel="times counted", xlim=(-0.6, TOKENS - 0.4))
        axes.set_xticks(places)
        axes.set_yticks([0, 1, 2, 3])
        axes.tick_params(colors=FAINT, labelcolor=INK)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside upper center", ncols=2)
        plt.close(figure)
    return Still(figure, _alt(exact, covered))


def _alt(exact: list[int], covered: list[int]) -> str:
    said, first = "", 0
    for (a, b), stretch in groupby(zip(exact, covered, strict=True)):
        last = first + len(list(stretch)) - 1
        said += f" Positions {first} to {last} are counted {times(a + b)}, {_by_whom(a, b)}."
        first = last + 1
    return (
        f"Bars for positions 0 to {TOKENS - 1}: how often each is counted after {TOKENS} tokens."
        f"{said} A dashed line marks once."
    )


def _by_whom(exact: int, covered: int) -> str:
    if not exact:
        return f"{'both times' if covered == 2 else times(covered)} by a summary"
    if covered == 1:
        return "by the window and by a summary"
    return f"once by the window and {times(covered)} by summaries"
