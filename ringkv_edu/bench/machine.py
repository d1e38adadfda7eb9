"""What the machine is and gives: its clock, its memory, how fast it reads."""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from .measure import Call, on_host, timings

__all__ = ["clock", "environment", "read", "read_bandwidth", "release", "room"]

Tensor = torch.Tensor
READ = 512 * 2**20  # bytes: more than any cache of a processor
MOST = 6 * 2**30  # bytes that the caches of one comparison may take on a CPU


GROUP = Path("/sys/fs/cgroup")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def clock(device: str) -> Callable[[Call], float]:
    """Give what times one call in seconds on a device."""
    return _on_cuda() if device == "cuda" else on_host


def _on_cuda() -> Callable[[Call], float]:
    """Time between two events around a call, the device being idle before.

    What the host needs to launch the call is in it wherever the device waits for that.
    """
    event: Any = torch.cuda.Event
    start, end = event(enable_timing=True), event(enable_timing=True)

    def timed(call: Call) -> float:
        torch.cuda.synchronize()
        start.record()
        call()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1000

    return timed


def read(x: Tensor) -> Tensor:
    """Read a contiguous tensor once. Halves are read in pairs: summed one by one, they are slow."""
    if x.element_size() < 4:
        flat = x.view(-1)
        x = flat[: len(flat) // 2 * 2].view(torch.float32)
    return x.sum()


def room(device: str) -> int:
    """Give how many bytes a comparison may take."""
    if device == "cuda":
        return int(0.8 * torch.cuda.mem_get_info()[0])
    free = _free()
    return MOST if free is None else min(MOST, int(0.8 * free))


def _free() -> int | None:
    """Give the bytes of memory that programs can still have, where the system tells."""
    found = []
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # a container may have less; "max" is no number
        limit, used = (int((GROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        found.append(limit - used)
    return min(found, default=None)


def release(device: str) -> None:
    """Give back what allocators keep of tensors that are gone."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    if mlx := sys.modules.get("mlx.core"):
        mlx.clear_cache()


def read_bandwidth(device: str, seconds: float) -> dict[str, float]:
    """Measure how fast a tensor that no cache holds is read, by `torch.sum` in float32."""
    size = READ
    while size > 2**20 and size > room(device) // 2:
        size //= 2
    x = torch.ones(size // 4, dtype=torch.float32, device=device)
    found = timings({"": lambda: read(x)}, seconds, rounds=5, clock=clock(device))[""]
    return {
        "bytes": size,
        "least_us": found.least,
        "median_us": found.median,
        "calls": found.calls,
        "gb_per_s": size / found.least / 1e3,
    }


def environment(device: str) -> dict[str, Any]:
    """Say what the numbers depend on."""
    threads = {n: os.environ[n] for n in THREADS if n in os.environ}
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "machine": platform.machine(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else None,
        "cuda": torch.version.cuda if device == "cuda" else None,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "threads": torch.get_num_threads(),
        "thread_variables": threads,
    }


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
