"""What `ringkv bench torch` is asked to measure, checked before anything is measured."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from ..problem import Problem

__all__ = ["Options", "checked"]

DEVICES = ("cpu", "cuda")
DTYPES = ("float32", "bfloat16", "float16", "float64")
SECONDS = 12.0
MOST = 2**20  # of anything that is counted


@dataclass(frozen=True)
class Options:
    """Sizes, device and files. ``threads`` None leaves torch's number as it is."""

    device: str = "cpu"
    dtype: str = "float32"
    threads: int | None = None
    kv_heads: tuple[int, ...] = (8, 32)
    heads: int = 32
    head_dim: int = 128
    windows: tuple[int, ...] = (256, 1024, 4096, 16384)
    seconds: float = SECONDS
    json: str | None = None
    plot: str | None = None

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype of keys and values."""
        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype

    def token(self, kv_heads: int) -> int:
        """Give the bytes of one token's keys and values."""
        return 2 * kv_heads * self.head_dim * self.torch_dtype.itemsize


def checked(given: Namespace) -> Options:
    """Give the options of a command line; raises ``Problem`` for one that cannot be measured."""
    plain = Options()
    options = Options(
        device=_one_of("--device", given.device or plain.device, DEVICES),
        dtype=_one_of("--dtype", given.dtype or plain.dtype, DTYPES),
        threads=_threads(given.threads),
        kv_heads=_numbers("--kv-heads", given.kv_heads, 1) or plain.kv_heads,
        heads=_number("--heads", given.heads, plain.heads),
        head_dim=_number("--head-dim", given.head_dim, plain.head_dim),
        windows=_numbers("--windows", given.windows, 2) or plain.windows,
        seconds=plain.seconds if given.seconds is None else given.seconds,
        json=_file("--json", given.json, None),
        plot=_file("--plot", given.plot, ".png"),
    )
    for kv_heads in options.kv_heads:
        if options.heads % kv_heads:
            raise Problem(
                f"--kv-heads has {kv_heads} and --heads is {options.heads}; "
                f"--heads must be a multiple of each number of key/value heads"
            )
    if options.device == "cuda" and not torch.cuda.is_available():
        raise Problem("--device is cuda and torch finds no CUDA device here; give --device cpu")
    if options.plot and not find_spec("matplotlib"):
        raise Problem("--plot needs matplotlib: pip install matplotlib, or leave --plot out")
    return options


def _one_of(name: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        raise Problem(f"{name} is {given}; give one of {', '.join(known)}")
    return given


def _number(name: str, given: Any, plain: int) -> int:
    return plain if given is None else _numbers(name, str(given), 1, one=True)[0]


def _numbers(name: str, given: str | None, least: int, one: bool = False) -> tuple[int, ...]:
    """Read whole numbers between commas, in rising order and each once; () for None."""
    if given is None:
        return ()
    what = "a whole number" if one else "whole numbers with commas between, such as 256,1024,"
    problem = Problem(f"{name} is {given or 'empty'}; give {what} from {least} to {MOST}")
    try:
        found = sorted({int(part) for part in given.split(",")})
    except ValueError:
        raise problem from None
    if not least <= found[0] <= found[-1] <= MOST:
        raise problem
    return tuple(found)


def _threads(given: int | None) -> int | None:
    cores = os.cpu_count() or 1
    if given is not None and not 1 <= given <= cores:
        raise Problem(f"--threads is {given}; give 1 to {cores}, as many as this machine has cores")
    return given


def _file(name: str, given: str | None, ending: str | None) -> str | None:
    """Check that a file can be written, before minutes are spent on what goes into it."""
    if given is None or (given == "-" and ending is None):
        return given
    path = Path(given)
    if ending and path.suffix.lower() != ending:
        raise Problem(f"{name} is {given or 'empty'}; give a file that ends in {ending}")
    if not given or path.is_dir():
        raise Problem(f"{name} is {given or 'empty'}; give the name of a file")
    if not path.parent.is_dir():
        raise Problem(f"{name} is {given}, and there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Problem(f"{name} is {given}, which may not be written; give another file")
    return given
