"""Memory that a growing cache and a ring hold while they decode: from real allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .still import Still
from .style import INK, LINE, SLOT_COLOURS, WRONG, text_style
from .words import times

__all__ = ["KV_HEADS", "TOKENS", "WINDOW", "Mark", "draw_memory", "measure", "memory_table"]

WINDOW, TOKENS, KV_HEADS, HEAD_DIM = 512, 4096, 8, 32
EVERY = 128
KIB = 1024


@dataclass(frozen=True)
class Mark:
    """After ``tokens`` tokens: bytes held, and the least microseconds of a write before that."""

    tokens: int
    growing: int
    joining: int  # while a token is joined to the others: the old tensors and the new
    ring: int
    growing_us: float
    ring_us: float


def measure(device: str = "cpu") -> list[Mark]:
    """Decode on a device with both caches; note what they hold every 128 tokens.

    On a CPU the bytes are those of the tensors' storages; on CUDA, what its allocator has given
    out since before the first token.
    """
    import torch

    from ..torch_ring import TorchRing

    k = torch.ones(1, KV_HEADS, 1, HEAD_DIM, dtype=torch.float16, device=device)
    held = _allocated(torch, device)
    growing = [k[:, :, :0], k[:, :, :0]]
    grown = []
    best, joining = float("inf"), 0
    for token in range(1, TOKENS + 1):
        start = perf_counter()
        new = [torch.cat([memory, k], dim=2) for memory in growing]
        best = min(best, perf_counter() - start)
        joining = held([*growing, *new])
        growing = new
        del new
        if token % EVERY == 0 or token == 1:
            grown.append((token, held(growing), joining, 1e6 * best))
            best = float("inf")
    del growing
    held = _allocated(torch, device)
    ring = TorchRing(WINDOW, 1, KV_HEADS, HEAD_DIM, dtype=torch.float16, device=device)
    marks: list[Mark] = []
    for token in range(1, TOKENS + 1):
        start = perf_counter()
        ring.append(k, k)
        best = min(best, perf_counter() - start)
        if token % EVERY == 0 or token == 1:
            flat = held([ring.keys, ring.values, ring.positions])
            at, bytes_grown, peak, us = grown[len(marks)]
            marks.append(Mark(at, bytes_grown, peak, flat, us, 1e6 * best))
            best = float("inf")
    return marks


def _allocated(torch: Any, device: str) -> Callable[[Iterable[Any]], int]:
    """Give a function that says how many bytes some tensors really hold."""
    if device != "cpu":
        before = torch.cuda.memory_allocated(device)
        return lambda tensors: int(torch.cuda.memory_allocated(device) - before)
    return lambda tensors: sum(
        {x.untyped_storage().data_ptr(): x.untyped_storage().nbytes() for x in tensors}.values()
    )


def memory_table() -> str:
    """Measure where the notebook runs, on CUDA if there is a device, and give a table."""
    import torch

    from ..bench.measure import table

    device = "cuda" if torch.cuda.is_available() else "cpu"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # two would wait for each other on a busy machine
    try:
        marks = [m for m in measure(device) if m.tokens in (1, 256, 512, 1024, 2048, 4096)]
    finally:
        torch.set_num_threads(threads)
    rows = [
        [
            f"{mark.tokens:,}",
            *(f"{size / KIB:,.1f}" for size in (mark.growing, mark.joining, mark.ring)),
            f"{mark.growing_us:.0f}",
            f"{mark.ring_us:.0f}",
        ]
        for mark in marks
    ]
    head = ["tokens", "growing, KiB", "while joining", "ring, KiB", "growing, us a write", "ring"]
    queued = "; the host's time alone, since the device works behind it" if device != "cpu" else ""
    about = f"one row, {KV_HEADS} heads of {HEAD_DIM}, float16, W = {WINDOW}, on {device}{queued}"
    return "\n".join([about, *table(head, rows)])


def draw_memory() -> Still:
    """Draw the bytes held against the tokens seen: 9 by 3.8 inches."""
    import matplotlib.pyplot as plt

    marks = measure()
    tokens = [mark.tokens for mark in marks]
    lines = (
        ("growing, while joining", "joining", WRONG, "--"),
        ("growing", "growing", SLOT_COLOURS[1], "-"),
        (f"ring, W = {WINDOW}", "ring", SLOT_COLOURS[0], "-"),
    )
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
        for name, field, colour, style in lines:
            sizes = [getattr(mark, field) / KIB for mark in marks]
            axes.plot(tokens, sizes, color=colour, ls=style, lw=2.2)
            axes.annotate(f"{name}\n{sizes[-1]:,.0f} KiB", (tokens[-1], sizes[-1]), (8, 0),
                          textcoords="offset points", va="center", color=INK)  # fmt: skip
        axes.axvline(WINDOW, color=LINE, lw=1, ls=":")
        axes.text(WINDOW + 40, 7600, "the ring is full", color=INK, va="center")
        axes.set(xlabel="tokens seen", ylabel="KiB held", xlim=(0, TOKENS * 1.01), ylim=(0, 8600))
        axes.set_xticks(range(0, TOKENS + 1, 512), [f"{t:,}" for t in range(0, TOKENS + 1, 512)])
        axes.grid(color=LINE, lw=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        plt.close(figure)
    return Still(figure, _alt(marks))


def _alt(marks: list[Mark]) -> str:
    first, last = marks[0], marks[-1]
    more = times(round(last.joining / last.growing))
    return (
        f"Memory held against tokens seen, {first.tokens} to {last.tokens:,}, for one layer and "
        f"one row. The growing cache rises in a straight line to {last.growing / KIB:,.0f} KiB, "
        f"and to nearly {more} that while joining. The ring is a flat line at "
        f"{last.ring / KIB:,.0f} KiB."
    )
