"""A cache of two counters whose counters go back while its slots do not: one row a moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..given_chunks import TwoCounters
from .still import Still
from .style import FAINT, INK, SLOT_COLOURS, WRONG, text_style
from .words import listed, spelt

__all__ = ["Moment", "draw_trim", "trim_moments"]

SIZE, TOKENS, TAKEN_BACK = 4, 10, 2


@dataclass(frozen=True)
class Moment:
    """The cache after one thing, beside the text that it should hold."""

    what: str
    slots: list[int]
    stale: list[int]  # slots with a token that should be gone
    new: list[int]  # slots written since the trim
    missing: list[int]  # tokens that the text needs and no slot holds
    offset: int
    index: int


def trim_moments() -> list[Moment]:
    """Run the toy with the trim of the report, and note each moment."""
    cache, text = TwoCounters(SIZE), [(position, "old") for position in range(TOKENS)]
    for token in text:
        cache.append(token)
    moments = [_look(f"append 0 to {TOKENS - 1}", cache, text)]
    _trim(cache, TAKEN_BACK)
    del text[-TAKEN_BACK:]
    moments.append(_look(f"trim(cache, {TAKEN_BACK})", cache, text))
    text.append((len(text), "new"))
    cache.append(text[-1])
    moments.append(_look(f"append a new {text[-1][0]}", cache, text))
    return moments


def _trim(cache: TwoCounters, n: int) -> None:
    cache.offset -= n
    cache.index -= n


def _look(what: str, cache: TwoCounters, text: list[tuple[int, str]]) -> Moment:
    needed, held = text[-cache.max_size :], cache.held()
    return Moment(
        what,
        [position for position, _ in held],
        [slot for slot, token in enumerate(held) if token not in needed],
        [slot for slot, (_, age) in enumerate(held) if age == "new"],
        [token[0] for token in needed if token not in held],
        cache.offset,
        cache.index,
    )


def draw_trim() -> Still:
    """Draw the moments from top to bottom. Gives a still of 9 by 3.1 inches."""
    import matplotlib.pyplot as plt

    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.1))
        for slot in range(SIZE):
            axes.text(slot, -0.85, f"slot {slot}", ha="center", va="center", color=FAINT)
        for row, moment in enumerate(trim_moments()):
            axes.text(-0.7, row, moment.what, ha="right", va="center")
            for slot in range(SIZE):
                _box(axes, slot, row, moment)
            axes.plot(moment.index, row - 0.46, "v", color=INK, markersize=8, clip_on=False)
            counters = f"{moment.offset} tokens, next write slot {moment.index}"
            wrong = _wrong(moment)
            axes.text(3.75, row - (0.18 if wrong else 0), counters, ha="left", va="center")
            axes.text(3.75, row + 0.2, wrong, ha="left", va="center", fontweight="bold")
        axes.plot(-0.35, 2.85, "v", color=FAINT, markersize=8)
        axes.text(-0.2, 2.85, "next write", ha="left", va="center", color=FAINT)
        axes.text(1.3, 2.85, "crossed: should be gone", ha="left", va="center", color=FAINT)
        axes.set(xlim=(-2.5, 7.1), ylim=(3.1, -1.15))
        axes.axis("off")
        figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=0.0)
        plt.close(figure)
    return Still(figure, _alt(*trim_moments()))


def _alt(full: Moment, trimmed: Moment, after: Moment) -> str:
    same = "the same" if trimmed.slots == full.slots else _row(trimmed.slots)
    stale, still = ([now.slots[slot] for slot in now.stale] for now in (trimmed, after))
    (new,) = after.new
    moved = f"from slot {full.index} to {trimmed.index}"
    return (
        f"Three rows of {spelt(SIZE)} slots. After tokens 0 to {TOKENS - 1}: {_row(full.slots)}. "
        f"After the trim {same}; the old {listed(stale)} are crossed, and the next write moves "
        f"{moved}. Then slot {new} holds a new {after.slots[new]}, thickly framed; the old "
        f"{listed(still)} is still crossed."
    )


def _row(positions: list[int]) -> str:
    return ", ".join(map(str, positions))


def _wrong(moment: Moment) -> str:
    if not moment.stale:
        return ""
    stale = " ".join(str(moment.slots[slot]) for slot in moment.stale)
    return f"should be gone: {stale}; missing: {' '.join(map(str, moment.missing))}"


def _box(axes: Any, slot: int, row: int, moment: Moment) -> None:
    from matplotlib.patches import Rectangle

    box, text, back = Rectangle((slot - 0.45, row - 0.33), 0.9, 0.7), f"{moment.slots[slot]}", None
    if slot in moment.stale:
        box.set(facecolor="white", edgecolor=WRONG, hatch="xx", lw=1.5)
        text, back = f"old {text}", {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    else:
        box.set(facecolor=SLOT_COLOURS[4], edgecolor=INK, lw=3 if slot in moment.new else 1)
        text = f"new {text}" if slot in moment.new else text
    axes.add_patch(box)
    axes.text(slot, row + 0.02, text, ha="center", va="center", fontweight="bold", bbox=back)
