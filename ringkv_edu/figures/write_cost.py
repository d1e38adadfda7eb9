"""What one write costs: measured where the notebook runs, with the learner's own ring."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..bench.measure import fastest
from ..given_numpy import RingArrays
from .still import Still
from .style import INK, LINE, SLOT_COLOURS, WRONG, text_style

__all__ = ["draw_write_cost", "measure", "write_cost"]

SIZES = (64, 256, 1024, 4096, 16384, 65536)
KV_HEADS, HEAD_DIM = 2, 16
SECONDS = 1.5  # about how long all of them take together
SHIFTING, LISTS, YOURS = "an array that shifts", "a list with pop(0)", "your ring"
LINES = {
    SHIFTING: (WRONG, "-", "s"),
    LISTS: (SLOT_COLOURS[1], "--", "^"),
    YOURS: (SLOT_COLOURS[0], "-", "o"),
}

Write = Callable[[RingArrays, Any, Any], object]
Microseconds = dict[str, dict[int, float]]


def write_cost(names: Mapping[str, Any] | None = None) -> Still | None:
    """Measure one write against the window, print a table and give a still.

    The ring's ``write`` is looked up in the notebook's own names, or in ``names``. Where it is
    missing or does not work yet, one line says so and the other two memories are drawn. Gives
    ``None`` where matplotlib is not installed.
    """
    write = (sys._getframe(1).f_globals if names is None else names).get("write")
    trouble = _trouble(write)
    if trouble:
        print(f"{trouble} The other two memories are measured without it.\n")
    found = measure(None if trouble else write)
    print(_table(found))
    try:
        return draw_write_cost(found)
    except ImportError:
        print("matplotlib is not installed, so there is no picture beside the table.")
        return None


def measure(write: Write | None = None) -> Microseconds:
    """Give the microseconds of one write, by memory and window: the least of many."""
    k, v = np.ones((2, KV_HEADS, HEAD_DIM))
    writes: dict[tuple[str, int], Callable[[], object]] = {}
    for window in SIZES:
        writes[SHIFTING, window] = _shifting(window, k, v)
        writes[LISTS, window] = _lists(window, k, v)
        if write is not None:
            writes[YOURS, window] = _ring(write, window, k, v)
    found: Microseconds = {}
    for (memory, window), least in fastest(writes, SECONDS).items():
        found.setdefault(memory, {})[window] = least
    return found


def draw_write_cost(found: Microseconds) -> Still:
    """Draw measured microseconds against the window, both axes logarithmic: 9 by 4 inches."""
    import matplotlib.pyplot as plt

    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
        for memory, times in found.items():
            colour, line, marker = LINES[memory]
            axes.plot(list(times), list(times.values()), color=colour, ls=line, marker=marker, lw=2)
            last = max(times)
            axes.annotate(memory, (last, times[last]), (10, 0), textcoords="offset points",
                          va="center", color=INK)  # fmt: skip
        axes.set(xscale="log", yscale="log", ylabel="microseconds for one write")
        axes.set_xlabel("window: slots in the memory")
        axes.set_xticks(list(SIZES), [f"{size:,}" for size in SIZES], minor=False)
        axes.minorticks_off()
        axes.grid(color=LINE, lw=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        plt.close(figure)
    return Still(figure, _alt(found))


def _alt(found: Microseconds) -> str:
    ends = [
        f"{memory} {times[min(times)]:,.1f} and {times[max(times)]:,.1f}"
        for memory, times in found.items()
    ]
    return (
        "Microseconds for one write against the window, measured where the notebook runs; both "
        f"axes are logarithmic. At {min(SIZES):,} and at {max(SIZES):,} slots: {'; '.join(ends)}."
    )


def _trouble(write: Any) -> str:
    """Say why a learner's ``write`` cannot be measured, or give an empty text."""
    if not callable(write):
        return "There is no `write` yet: run the answer cell of exercise 2."
    ring = _full_ring(3)
    try:
        for _ in range(4):
            write(ring, np.ones((KV_HEADS, HEAD_DIM)), np.ones((KV_HEADS, HEAD_DIM)))
        stored = 6 in np.asarray(ring.positions)
    except Exception as error:
        return f"Your `write` raised {type(error).__name__}: {error}."
    return "" if stored else "Your `write` does not store a token and its position yet."


def _full_ring(window: int) -> RingArrays:
    ring = RingArrays(window, KV_HEADS, HEAD_DIM)
    ring.positions[:] = np.arange(window)
    ring.seen = window
    return ring


def _ring(write: Write, window: int, k: Any, v: Any) -> Callable[[], object]:
    ring = _full_ring(window)
    return lambda: write(ring, k, v)


def _shifting(window: int, k: Any, v: Any) -> Callable[[], object]:
    """Keep tokens in order of time in arrays: all of them move one place for each new one."""
    ring = _full_ring(window)

    def one() -> None:
        for memory, new in ((ring.keys, k), (ring.values, v)):
            memory[:, :-1] = memory[:, 1:]
            memory[:, -1] = new
        ring.positions[:-1] = ring.positions[1:]
        ring.positions[-1] = ring.seen
        ring.seen += 1

    return one


def _lists(window: int, k: Any, v: Any) -> Callable[[], object]:
    """Keep tokens in order of time in lists: only pointers move."""
    keys, values, positions = [k] * window, [v] * window, list(range(window))

    def one() -> None:
        for memory, new in ((keys, k), (values, v)):
            memory.append(new.copy())
            memory.pop(0)
        positions.append(positions[-1] + 1)
        positions.pop(0)

    return one


def _table(found: Microseconds) -> str:
    heads = "window".rjust(8) + "".join(f"{memory:>24}" for memory in found)
    rows = [
        f"{window:8,}" + "".join(f"{times[window]:24.1f}" for times in found.values())
        for window in SIZES
    ]
    return "\n".join(["microseconds for one write", heads, *rows])
