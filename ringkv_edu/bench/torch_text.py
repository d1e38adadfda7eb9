"""The report of `ringkv bench torch` as text, at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from .measure import table
from .torch_peers import Growing, Linear, Ring

__all__ = ["of_growth", "of_machine", "of_method", "of_place", "of_size", "of_writes"]

Found = dict[str, Any]
MIB = 2**20
WIDTH = 100
METHOD = (
    "Times are in microseconds. All steps of one size take turns, two calls each: the first finds "
    "what the others have left in the processor's caches. All rings are full before. `write` and "
    "`step` are least times, `median` is of the steps. `x ring`: in steps of the ring; `cold`: the "
    "same of first calls alone. `x read`: in times of reading the keys and values of the window "
    "once, which took its turn among the others. `x memory`: in the time they would take at the "
    "bandwidth of the first line. `moved`: MiB that a step must read and write, computed from what "
    "it does. `attention`: of those on offer, the quickest for that cache; TorchRing and mlx-lm "
    "use their own.",
    "A write alone finds in the tables what the others have left of the processor's caches; writes "
    "by window, and steps by tokens seen, are timed five in a row.",
    f"`{Growing.name}` is held at the length of the window, at most 1/64 longer, by cuts that are "
    f"not timed. `{Linear.name}` moves once in W + 1 steps; a move is timed apart, and its share "
    f"is in `write`, `step` and `median`.",
)
MLX = "mlx-lm runs with as many threads as it likes; --threads is torch's number."
CUDA = (
    "On CUDA a time is that between two events around a call, the device being idle before: what "
    "the host needs to launch the call is in it."
)


def of_machine(found: Found) -> Iterator[str]:
    """Say what is measured on what."""
    options, bandwidth = found["options"], found["bandwidth"]
    yield (
        f"{options['heads']} query heads of {options['head_dim']}, {options['dtype']}, one row, "
        f"torch {found['environment']['torch']}"
    )
    size = bandwidth["bytes"] / MIB
    yield f"{of_place(found)}: {size:.0f} MiB are read at {bandwidth['gb_per_s']:.1f} GB/s"


def of_place(found: Found) -> str:
    """Name what computes."""
    machine = found["environment"]
    threads = machine["threads"]
    return str(machine["gpu"] or f"{machine['cpu']}, {threads} thread{'s' * (threads != 1)}")


def of_writes(found: Found) -> Iterator[str]:
    """Show the writes that move nothing, by window."""
    options = found["options"]
    windows = options["windows"]
    yield ""
    yield "One write alone, by window, in microseconds (the windows take turns)"
    by = {(w["peer"], w["kv_heads"], w["window"]): w["least_us"] for w in found["writes"]}
    rows = []
    for kv_heads in options["kv_heads"]:
        for name in (Ring.name, Linear.name):
            if (name, kv_heads, windows[0]) not in by:
                continue  # no room for all windows at once
            times = [by[name, kv_heads, window] for window in windows]
            cells = [*map(_time, times), f"{max(times) / min(times):.2f}x"]
            rows.append([f"{name}, {kv_heads} key/value heads", *cells])
    yield from table(["", *(f"W={w}" for w in windows), "most/least"], rows)


def of_size(size: Found) -> Iterator[str]:
    """Show one size."""
    mib, read = size["kv_bytes"] / MIB, size["read"]["least_us"]
    yield ""
    yield (
        f"{size['kv_heads']} key/value heads, window {size['window']}: {mib:.4g} MiB, read once in "
        f"{_time(read)} us ({size['kv_bytes'] / read / 1e3:.1f} GB/s)"
    )
    head = [
        "",
        "write",
        "step",
        "median",
        "x ring",
        "cold",
        "x read",
        "x memory",
        "moved",
        "attention",
    ]
    yield from table(head, [_row(row) for row in size["rows"]])
    alone = size["attention_alone"]
    times = ", ".join(f"{name} {_time(t['least_us'])}" for name, t in alone.items())
    yield f"attention alone, over the ring's slots: {times}"
    for sentence in size["left_out"]:
        yield f"left out: {sentence}"


def _row(row: Found) -> list[str]:
    moved = (row["bytes_read"] + row["bytes_written"]) / MIB
    times = [row["write"]["least_us"], row["step"]["least_us"], row["step"]["median_us"]]
    ratios = [row["to_ring"], row["to_ring_first"], row["to_read"], row["to_memory"]]
    cells = [*map(_time, times), *(f"{r:.2f}" for r in ratios), f"{moved:.1f}", row["attention"]]
    return [row["peer"], *cells]


def of_growth(found: Found) -> Iterator[str]:
    """Show a step after more and more tokens."""
    grown = found["growth"]
    window, rows = grown["window"], grown["rows"]
    yield ""
    yield (
        f"One step after so many tokens, in microseconds: {grown['kv_heads']} "
        f"key/value heads, a ring of window {window}"
    )
    lines = [[n, *(_time(row[n]["least_us"]) for row in rows)] for n in (Ring.name, Growing.name)]
    yield from table(["tokens seen", *(str(row["seen"]) for row in rows)], lines)


def of_method(found: Found) -> Iterator[str]:
    """Say how it was measured."""
    yield ""
    cuda = found["options"]["device"] == "cuda"
    for text in (*METHOD, CUDA if cuda else MLX):
        yield from wrap(text, WIDTH)


def _time(microseconds: float) -> str:
    return f"{microseconds:.0f}" if microseconds >= 1000 else f"{microseconds:.1f}"
