"""`ringkv bench torch`: the ring's write and decode step, and those of the caches in use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from .machine import environment, read_bandwidth, release
from .torch_alone import growth, lengths, writes
from .torch_compare import check_room, compare
from .torch_options import Options
from .torch_text import of_growth, of_machine, of_method, of_size, of_writes

__all__ = ["FORMAT", "report"]

FORMAT = 1  # of the JSON: raised when a key changes its meaning
PACKAGES = ("numpy", "transformers", "mlx", "mlx-lm")
BANDWIDTH_SECONDS = 2.0
Say = Callable[[str], None]


def report(options: Options, emit: Say, say: Say = lambda text: None) -> dict[str, Any]:
    """Measure; hand each line of the report to ``emit`` and give what the JSON holds.

    ``say`` is told what is being measured. The files that ``options`` name are written at the end;
    for ``json`` "-" the JSON is all that ``emit`` gets. torch's number of threads is put back.
    """
    with _threads(options.threads), torch.no_grad():
        found = _measured(options, (lambda line: None) if options.json == "-" else emit, say)
    if options.plot:
        from .torch_plot import draw_growth

        draw_growth(found).savefig(options.plot, dpi=150)
    text = json.dumps(found, indent=1, allow_nan=False)
    if options.json == "-":
        emit(text)
    elif options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    return found


def _measured(options: Options, emit: Say, say: Say) -> dict[str, Any]:
    sizes = [(kv, window) for kv in options.kv_heads for window in options.windows]
    parts = len(sizes) + len(options.kv_heads) + 2
    done = iter(range(1, parts + 1))

    def next_part(what: str) -> None:
        release(options.device)  # the caches of the part before
        say(f"{next(done)} of {parts}: {what}")

    def emit_all(lines: Iterable[str]) -> None:
        for line in lines:
            emit(line)

    check_room(options)
    next_part("how fast this machine reads")
    found: dict[str, Any] = {
        "format": FORMAT,
        "options": asdict(options),
        "environment": environment(options.device) | {"packages": _packages()},
        "bandwidth": read_bandwidth(options.device, min(BANDWIDTH_SECONDS, options.seconds)),
        "writes": [],
        "sizes": [],
    }
    emit_all(of_machine(found))
    for kv_heads in options.kv_heads:
        next_part(f"{kv_heads} key/value heads, writes alone")
        found["writes"] += writes(options, kv_heads)
    emit_all(of_writes(found))
    for kv_heads, window in sizes:
        next_part(f"{kv_heads} key/value heads, window {window}")
        size = compare(options, kv_heads, window)
        _add_memory_floor(size, found["bandwidth"]["gb_per_s"])
        found["sizes"].append(size)
        emit_all(of_size(size))
    next_part(f"one step after {lengths(options)[0]} to {lengths(options)[-1]} tokens")
    found["growth"] = growth(options)
    emit_all([*of_growth(found), *of_method(found)])
    return found


def _add_memory_floor(size: dict[str, Any], gb_per_s: float) -> None:
    """Add how long the keys and values would take at the bandwidth of the memory."""
    size["memory_us"] = size["kv_bytes"] / gb_per_s / 1e3
    for row in size["rows"]:
        row["to_memory"] = row["step"]["least_us"] / size["memory_us"]


@contextmanager
def _threads(n: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    try:
        if n is not None:
            torch.set_num_threads(n)
        yield
    finally:
        torch.set_num_threads(before)


def _packages() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found
