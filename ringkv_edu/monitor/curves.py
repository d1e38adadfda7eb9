"""A recorded run as curves: memory, speed, surprise, scores, attention, keys and values."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from ..figures.style import INK, LINE, SLOT_COLOURS, WRONG, text_style
from .log import Log, RunLog

__all__ = ["draw_curves"]

KIB, SPAN, FEW = 1024, 16, 4
OWN, FULL, OTHER = SLOT_COLOURS[0], SLOT_COLOURS[1], SLOT_COLOURS[2]


def draw_curves(log: Log) -> Any:
    """Draw six panels against the tokens seen: a figure of 13 by 7 inches."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = (_memory, _speed, _surprise, _peaks, _mass, _spread)
    with rc_context(text_style()):
        figure = Figure(figsize=(13, 7), layout="constrained")
        figure.suptitle(f"{log.run.head['name']}, {log.run.seen:,} tokens")
        for axes, draws in zip(figure.subplots(2, 3).flat, panels, strict=True):
            draws(axes, log)
            axes.set_xlabel("tokens seen")
            axes.grid(color=LINE, lw=0.5)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(frameon=False, fontsize=9)
    return figure


def _runs(log: Log) -> list[tuple[RunLog, str, str, str]]:
    both = [(log.run, "this run", OWN, "-")]
    return both if log.reference is None else [*both, (log.reference, "all kept", FULL, "--")]


def _memory(axes: Any, log: Log) -> None:
    most = max(s["bytes"] for run, *_ in _runs(log) for s in run.steps)
    unit, says = (KIB**2, "MiB") if most >= 2 * KIB**2 else (KIB, "KiB")
    for run, name, colour, line in _runs(log):
        seen = [s["seen"] for s in run.steps]
        sizes = [s["bytes"] / unit for s in run.steps]
        axes.plot(seen, sizes, color=colour, ls=line, lw=2, label=name)
    for one in log.run.events:
        if one["event"] in ("alarm", "stop"):
            axes.annotate(one["event"], (seen[-1], sizes[-1]), color=WRONG)
    axes.set(title=f"Cache, {says}", ylim=(0, None))


def _speed(axes: Any, log: Log) -> None:
    for run, name, colour, line in _runs(log):
        timed = run.timed
        at = range(0, len(timed) - SPAN + 1, SPAN)
        rates = [timed[i]["batch"] / median(s["seconds"] for s in timed[i : i + SPAN]) for i in at]
        axes.plot([timed[i]["seen"] for i in at], rates, color=colour, ls=line, lw=2, label=name)
    axes.set(title=f"Tokens per second (of {SPAN} steps, median)", ylim=(0, None))


def _surprise(axes: Any, log: Log) -> None:
    for run, name, colour, line in _runs(log):
        nll = [s["nll"] for s in run.steps if s.get("nll") is not None]
        seen = [s["seen"] for s in run.steps if s.get("nll") is not None]
        mean = [sum(nll[max(0, i - SPAN) : i + 1]) / (i + 1 - max(0, i - SPAN))
                for i in range(len(nll))]  # fmt: skip
        axes.plot(seen, mean, color=colour, ls=line, lw=1.5, label=name)
    sizes = [size for size in log.run.capacities if size is not None]
    if sizes and min(sizes) < log.run.seen:
        axes.axvline(min(sizes), color=INK, ls=":")
        axes.annotate("first eviction", (min(sizes), 0), (3, 4), textcoords="offset points",
                      xycoords=("data", "axes fraction"), color=INK, fontsize=9)  # fmt: skip
    axes.set(title=f"Surprise, nats (mean of {SPAN})", ylim=(0, None))


def _looks(log: Log, key: str) -> tuple[list[int], list[list[Any]]]:
    looked = [s for s in log.run.decode if "inside" in s]
    return [s["seen"] for s in looked], [s["inside"][key] for s in looked]


def _layers(axes: Any, seen: list[int], rows: list[list[Any]]) -> None:
    """Draw each layer; of more than four, what the largest, the median and the least have."""
    if not rows:
        return
    if len(rows[0]) <= FEW:
        lines = {f"layer {at}": [row[at] for row in rows] for at in range(len(rows[0]))}
    else:
        every: dict[str, Callable[[list[Any]], Any]] = {
            "largest of all layers": max,
            "median": median,
            "least": min,
        }
        lines = {name: [of(row) for row in rows] for name, of in every.items()}
    for at, (name, values) in enumerate(lines.items()):
        axes.plot(seen, values, color=SLOT_COLOURS[at], marker="osD^"[at], lw=1, ms=4, label=name)


def _peaks(axes: Any, log: Log) -> None:
    seen, rows = _looks(log, "peaks")
    _layers(axes, seen, [[float("nan") if p is None else p for p in row] for row in rows])
    axes.margins(y=0.3)  # room for the legend
    axes.set_title("Largest score")


def _mass(axes: Any, log: Log) -> None:
    seen, rows = _looks(log, "mass")
    known = [(at, [m for m in row if m is not None]) for at, row in zip(seen, rows, strict=True)]
    known = [(at, row) for at, row in known if row]
    for which, name in enumerate(("sinks", "window", "summaries")):
        shares = [100 * sum(m[which] for m in row) / len(row) for _, row in known]
        colour, line = (FULL, OWN, OTHER)[which], ("--", "-", "-.")[which]
        axes.plot([at for at, _ in known], shares, color=colour, ls=line, lw=2, label=name)
    axes.set(title="Attention, % (mean of layers)", ylim=(0, 100))


def _spread(axes: Any, log: Log) -> None:
    """Draw the standard deviation of keys and values, the text's first tokens apart."""
    for key, colour, line in (("keys", OWN, "-"), ("values", OTHER, "--")):
        seen, rows = _looks(log, key)
        some = [sum(layer[1] for layer in row) / len(row) for row in rows]
        axes.plot(seen, some, color=colour, ls=line, lw=2, label=key)
        if log.run.first:
            first = [layer[1] for layer in log.run.first[key]]
            axes.plot([0], [sum(first) / len(first)], color=colour, marker="D", ls="",
                      label=f"{key} of the first {log.run.first['n']}")  # fmt: skip
    axes.set(title="Standard deviation of keys and values", ylim=(0, None))
