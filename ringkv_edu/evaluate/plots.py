"""The comparison as a picture: quality against memory, and the time of a step against length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..figures.style import INK, LINE, SLOT_COLOURS, text_style

__all__ = ["draw"]

Found = dict[str, Any]
MARKERS = "osD^vPX*"
STYLES = ("-", "--", "-.", ":")
KIB = 1024


def draw(found: Found) -> Any:
    """Draw what ``evaluate`` found: a figure with a panel for each thing that was measured.

    Raises ``ValueError`` when there is nothing to draw.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = [draws for has, draws in _PANELS if has(found["rows"][0])]
    if not panels:
        raise ValueError("nothing was measured that could be drawn; give a text, tasks or lengths")
    with rc_context(text_style()):
        figure = Figure(figsize=(6.2 * len(panels), 4.6), layout="constrained")
        for axes, draws in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels,
                               strict=True):  # fmt: skip
            draws(axes, found)
            axes.grid(color=LINE, lw=0.5)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _look(at: int) -> dict[str, Any]:
    """Give a contender's colour, marker and line; after eight they repeat in another line style."""
    colour = SLOT_COLOURS[at % len(SLOT_COLOURS)]
    return {"color": colour, "marker": MARKERS[at % len(MARKERS)], "markeredgecolor": INK,
            "markeredgewidth": 0.6, "markersize": 8}  # fmt: skip


def _sizes(axes: Any) -> None:
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.3, high * 1.3)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.minorticks_off()


def _unit(sizes: list[float]) -> tuple[int, str]:
    """Give the unit that suits the largest of some bytes."""
    return (KIB**2, "MiB") if max(sizes) >= 2 * KIB**2 else (KIB, "KiB")


def _perplexity(axes: Any, found: Found) -> None:
    unit, name = _unit([row["cache_bytes"] for row in found["rows"]])
    for at, row in enumerate(found["rows"]):
        axes.plot(
            [row["cache_bytes"] / unit], [row["perplexity"]], ls="", label=row["name"], **_look(at)
        )
    _sizes(axes)
    axes.set(xlabel=f"cache at most, {name}", ylabel="perplexity (lower is better)")
    axes.set_title(f"Quality against memory, {found['options']['tokens']:,} tokens")


def _recall(axes: Any, found: Found) -> None:
    rows = found["rows"]
    name = next(iter(rows[0]["tasks"]))
    for at, row in enumerate(rows):
        one = row["tasks"][name]
        axes.plot(
            [one["cache_bytes"] / one["rows"] / KIB],
            [one["accuracy"]],
            ls="",
            label=row["name"],
            **_look(at),
        )
    chance = rows[0]["tasks"][name]["chance"]
    axes.axhline(chance, color=INK, ls=":", lw=1)
    axes.annotate("guessing", (0, chance), (4, 4), xycoords=("axes fraction", "data"),
                  textcoords="offset points", color=INK)  # fmt: skip
    _sizes(axes)
    axes.set(xlabel="cache of one text at most, KiB", ylabel="right answers", ylim=(-0.03, 1.05))
    axes.set_title(f"Far recall against memory: {name}")


def _time(axes: Any, found: Found) -> None:
    for at, row in enumerate(found["rows"]):
        lengths = [one["prompt"] for one in row["speed"]]
        times = [1e3 * one["tpot_least_s"] for one in row["speed"]]
        style = STYLES[at % len(STYLES)]
        axes.plot(lengths, times, ls=style, lw=1.8, label=row["name"], **_look(at))
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, [f"{n:,}" for n in lengths], minor=False)
    axes.set(xlabel="tokens before", ylabel="least milliseconds per token", ylim=(0, None))
    machine = found["environment"]
    axes.set_title(f"Time per token, {machine['threads']} thread{'s' * (machine['threads'] != 1)}")


_PANELS: tuple[tuple[Callable[[Found], bool], Callable[[Any, Found], None]], ...] = (
    (lambda row: "perplexity" in row, _perplexity),
    (lambda row: "tasks" in row, _recall),
    (lambda row: "speed" in row, _time),
)
