"""How much a larger base slows each pair, by two formulas."""

from __future__ import annotations

from ..rope import article_base, frequencies, ntk_base
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style

__all__ = ["HEAD_DIM", "STRETCH", "draw_ntk", "times_slower"]

BASE, HEAD_DIM, STRETCH = 10000.0, 128, 4


def times_slower() -> dict[str, list[float]]:
    """Give how many times slower each of the 64 pairs turns, fastest pair first, by formula."""
    before = frequencies(HEAD_DIM, BASE)
    bases = {
        "NTK-aware": ntk_base(BASE, STRETCH, HEAD_DIM),
        "article": article_base(BASE, STRETCH),
    }
    return {name: (before / frequencies(HEAD_DIM, base)).tolist() for name, base in bases.items()}


def draw_ntk() -> Still:
    """Draw both formulas for texts 4 times longer. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    found = times_slower()
    looks = {
        "NTK-aware": ("NTK-aware base", SLOT_COLOURS[0], "-", "o"),
        "article": ("article: s ** 0.5", WRONG, "--", "s"),
    }
    last = HEAD_DIM // 2 - 1
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
        axes.axhline(STRETCH, color=FAINT, lw=1, ls=":")
        axes.text(1, STRETCH - 0.08, "wanted for the slowest pair: 4", color=FAINT, va="top")
        for name, (label, colour, line, marker) in looks.items():
            slower = found[name]
            axes.plot(slower, color=colour, ls=line, marker=marker, markevery=[0, 31, last], lw=2.2,
                      ms=7, clip_on=False)  # fmt: skip
            axes.annotate(f"{label}:\n{slower[-1]:.2f}", (last, slower[-1]), (10, 0), va="center",
                          textcoords="offset points", color=INK, annotation_clip=False)  # fmt: skip
        axes.set(
            xlabel="pair, from the fastest (0) to the slowest (63)",
            ylabel="times slower than before",
        )
        axes.set(xlim=(0, last), ylim=(0.9, STRETCH + 0.15))
        axes.set_xticks([0, 15, 31, 47, last])
        axes.set_yticks(range(1, STRETCH + 1))
        axes.grid(color=LINE, lw=0.5)
        axes.tick_params(colors=FAINT, labelcolor=INK)
        axes.spines[["top", "right"]].set_visible(False)
        plt.close(figure)
    return Still(figure, _alt(found))


def _alt(found: dict[str, list[float]]) -> str:
    aware, article = found["NTK-aware"], found["article"]
    last = len(aware) - 1
    return (
        f"Two lines over pairs 0 to {last}: how many times slower each turns. Both start at "
        f"{aware[0]:.3g}. The solid line, the NTK-aware base, bends up to {aware[-1]:.3g} at pair "
        f"{last}. The dashed line, the article's base, ends at {article[-1]:.3g}."
    )
