"""The least time of a decode step against the context: what is read, over how fast it is read."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from ..budget import Card, Plan
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, text_style

__all__ = ["LENGTHS", "draw_roofline"]

LENGTHS = tuple(2**n for n in range(9, 18))  # 512 to 128K


def draw_roofline(plain: Plan, plans: Mapping[int, Plan], card: Card, batch: int = 1) -> Still:
    """Draw what a step takes at least, as the model is and with each window: 9 by 3.8 inches."""
    import matplotlib.pyplot as plt

    lines = {"as it is": plain, **{f"W = {w:,}": plan for w, plan in plans.items()}}
    found = {name: _milliseconds(plan, card, batch) for name, plan in lines.items()}
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
        weights = 1e3 * plain.weight_bytes / card.bandwidth
        axes.axhline(weights, color=FAINT, lw=1.2, ls="--", zorder=0)
        colours = [INK, *(SLOT_COLOURS[n % len(SLOT_COLOURS)] for n in range(len(plans))), FAINT]
        for colour, times in zip(colours, found.values(), strict=False):
            axes.plot(LENGTHS, times, color=colour, lw=2.2, marker="o", ms=4)
        ends = {name: times[-1] for name, times in found.items()} | {"weights alone": weights}
        _names(axes, dict(zip(ends, colours, strict=True)), ends)
        axes.set(xscale="log", yscale="log", xlim=(LENGTHS[0], LENGTHS[-1]))
        axes.set(xlabel="tokens of each request", ylabel="least milliseconds of a step")
        axes.set_xticks(LENGTHS, [_short(n) for n in LENGTHS])
        axes.minorticks_off()
        axes.set_yticks(*_ticks([t for times in found.values() for t in times] + [weights]))
        axes.grid(color=LINE, lw=0.5)
        axes.tick_params(colors=FAINT, labelcolor=INK)
        axes.spines[["top", "right"]].set_visible(False)
        plt.close(figure)
    return Still(figure, _alt(plain, card, batch, weights, found))


def _milliseconds(plan: Plan, card: Card, batch: int) -> list[float]:
    return [1e3 * plan.step_seconds(card, n, batch) for n in LENGTHS]


def _names(axes: Any, colours: Mapping[str, str], ends: Mapping[str, float]) -> None:
    """Name each line behind its end; a thin line leads to a name that had to move."""
    for name, place in _apart(ends).items():
        lead = {"arrowstyle": "-", "color": colours[name], "lw": 1.6, "relpos": (0, 0.5)}
        where = (LENGTHS[-1], ends[name]), (LENGTHS[-1] * 1.25, place)
        axes.annotate(name, *where, va="center", annotation_clip=False, arrowprops=lead)


def _apart(ends: Mapping[str, float], least: float = 1.13) -> dict[str, float]:
    """Move names apart on a logarithmic axis, each group of close ones around its middle."""
    groups: list[list[str]] = []
    for name in sorted(ends, key=lambda name: ends[name]):
        groups.append([name])
        while len(groups) > 1 and _lowest(groups[-1], ends, least) < least * _highest(
            groups[-2], ends, least
        ):
            last = groups.pop()
            groups[-1] += last
    return {
        name: _lowest(group, ends, least) * least**place
        for group in groups
        for place, name in enumerate(group)
    }


def _lowest(group: list[str], ends: Mapping[str, float], least: float) -> float:
    middle = prod(ends[name] for name in group) ** (1 / len(group))
    return float(middle / least ** ((len(group) - 1) / 2))


def _highest(group: list[str], ends: Mapping[str, float], least: float) -> float:
    return float(_lowest(group, ends, least) * least ** (len(group) - 1))


def _short(n: int) -> str:
    return f"{n // 1024}K" if n >= 1024 else str(n)


def _ticks(times: list[float]) -> tuple[list[float], list[str]]:
    """Give round numbers between the least and the most: 1, 2, 5, 10, 20, ..."""
    round_ones = [lead * 10.0**power for power in range(-3, 6) for lead in (1, 2, 5)]
    inside = [value for value in round_ones if min(times) * 0.7 <= value <= max(times) * 1.4]
    return inside, [f"{value:g}" for value in inside]


def _alt(
    plain: Plan, card: Card, batch: int, weights: float, found: Mapping[str, list[float]]
) -> str:
    ends = "; ".join(f"{name} {t[0]:.2f} and {t[-1]:.2f}" for name, t in found.items())
    return (
        f"The least milliseconds of a decode step of {plain.model.name} on {card.name} at batch "
        f"{batch}, against 512 to 131,072 tokens, first and last: {ends}. Reading the weights "
        f"alone takes {weights:.2f}."
    )
