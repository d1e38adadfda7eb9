"""A decode step against the time that plain reading of the keys and values takes."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from ..torch_ring import TorchRing
from .measure import fastest, table

__all__ = ["floor_table", "times"]

HEADS, HEAD_DIM = 32, 128
SIZES = ((8, 1024), (32, 1024), (8, 4096))  # key/value heads, window
SECONDS = 0.8  # for each size


def floor_table() -> str:
    """Measure where the notebook runs, on CUDA if there is a device, and give a table."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)
    for kv_heads, window in SIZES:
        step, read, size = times(kv_heads, window, device)
        speed = f"{size / read / 1e3:.0f} GB/s"
        sizes = [f"{kv_heads} heads, W = {window}", f"{size / 2**20:.0f} MiB"]
        rows.append([*sizes, f"{read:,.0f}", speed, f"{step:,.0f}", f"{step / read:.1f}x"])
    torch.set_num_threads(threads)
    head = ["", "keys and values", "reading, us", "", "step, us", "step / reading"]
    where = "float32, one thread of the CPU" if device == "cpu" else f"float32 on {device}"
    return "\n".join([f"{where}; least times", *table(head, rows)])


def times(kv_heads: int, window: int, device: str) -> tuple[float, float, int]:
    """Give the microseconds of a step and of reading, and the bytes of keys and values."""
    ring = TorchRing(window, 1, kv_heads, HEAD_DIM, dtype=torch.float32, device=device)
    many = torch.ones(1, kv_heads, window, HEAD_DIM, device=device)
    ring.append(many, many)
    q = torch.ones(1, HEADS, 1, HEAD_DIM, device=device)
    k = many[:, :, :1]
    step = partial(_done, device, lambda: ring.step(q, k, k))
    read = partial(_done, device, lambda: (ring.keys.sum(), ring.values.sum()))
    best = fastest({"step": step, "read": read}, SECONDS)
    return best["step"], best["read"], ring.nbytes


def _done(device: str, work: Any) -> None:
    """Do the work and wait for it."""
    work()
    if device != "cpu":
        torch.cuda.synchronize()
