"""``rotate`` on tensors: the same angles and products, on any device, without reading a value.

Positions may be tensors on the device, such as ``ring.seen``, so that a decode step turns its
queries and keys without waiting, and can be compiled and captured. Loaded by ``ringkv_edu.rope``
when it is given a tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .rope import PAIRINGS, frequencies, numbers
from .torch_inputs import DTYPES, NAMES, readable

__all__ = ["rotate_tensor"]

Tensor = torch.Tensor
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
FLOATS = (torch.float64, torch.float32)  # bfloat16 has no 257, float16 no 2049
TURNS: dict[tuple[int, float, str], Tensor] = {}  # sent to each device once


def rotate_tensor(x: Tensor, positions: Any, base: float, pairing: str) -> Tensor:
    """Turn vectors ``x`` (..., n, head_dim) to their positions, as ``ringkv_edu.rotate`` says."""
    if x.dtype not in DTYPES:
        raise TypeError(f"x has dtype {x.dtype}; give one of {NAMES}")
    if x.ndim < 1:
        raise ValueError("x is a single number; give vectors (..., n, head_dim)")
    if pairing not in PAIRINGS:
        raise ValueError(f"pairing is {pairing!r}; give one of {', '.join(PAIRINGS)}")
    turns = _turns(x.shape[-1], base, x.device)
    cos, sin = _cos_sin(_where(positions, x)[..., None], turns)
    wide = x.double()
    if pairing == "half":
        first, second = wide.chunk(2, dim=-1)
        out = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    else:
        first, second = wide[..., 0::2], wide[..., 1::2]
        pairs = [first * cos - second * sin, second * cos + first * sin]
        out = torch.stack(pairs, dim=-1).flatten(-2)
    return out.to(x.dtype)


def _cos_sin(column: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
    """Give cosines and sines of positions (..., 1), exactly as ``ringkv_edu.rope.cos_sin``."""
    a, b = column * turns[0], column * turns[1]
    cos = torch.cos(a) * torch.cos(b) - torch.sin(a) * torch.sin(b)
    sin = torch.sin(a) * torch.cos(b) + torch.cos(a) * torch.sin(b)
    return cos, sin


def _turns(head_dim: int, base: float, device: torch.device) -> Tensor:
    """Give the turn per token of each pair, a coarse part and the rest: (2, head_dim / 2)."""
    _prepare(head_dim, base, str(device))
    return TURNS[head_dim, float(base), str(device)]


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _prepare(head_dim: int, base: float, device: str) -> bool:
    """Make sure that a device has the turns; a compiler runs this once and does not look inside."""
    turns = frequencies(head_dim, base)
    if (head_dim, float(base), device) not in TURNS:
        coarse = turns.astype(np.float32).astype(np.float64)
        with torch.inference_mode(False):  # or no later step could use them with gradients
            both = torch.from_numpy(np.stack([coarse, turns - coarse]))
            TURNS[head_dim, float(base), device] = both.to(device)
    return True


def _where(positions: Any, x: Tensor) -> Tensor:
    """Give positions as float64 beside ``x``, of a shape that broadcasts to ``x.shape[:-1]``."""
    if isinstance(positions, (int, float)) and not isinstance(positions, bool):
        if not abs(positions) < 2**63:
            raise ValueError(f"positions are {positions}, which is no position; give a finite one")
        return torch.full((), float(positions), dtype=torch.float64, device=x.device)
    checked = not isinstance(positions, Tensor)
    if checked:
        positions = torch.from_numpy(numbers(positions))
    if positions.dtype not in WHOLE + FLOATS:
        raise TypeError(
            f"positions are {positions.dtype}; give whole numbers, or float64 for halves: smaller "
            f"floats do not have every position"
        )
    if positions.device.type not in ("cpu", x.device.type):
        raise TypeError(f"positions are on {positions.device} and x on {x.device}; move them")
    _check_fit(positions.shape, x.shape)
    checked = checked or positions.dtype in WHOLE or not readable(positions, False)
    if not checked and not bool(positions.isfinite().all()):
        raise ValueError("positions hold a number that is not finite")
    where: Tensor = positions.to(x.device, torch.float64, non_blocking=True)
    return where


def _check_fit(given: torch.Size, shape: torch.Size) -> None:
    """Check that there is one position per vector, in a row or in the vectors' own shape."""
    if len(given) == 1 and (len(shape) < 2 or given[0] != shape[-2]):
        raise ValueError(
            f"x has shape {tuple(shape)} and there are {given[0]} positions; give one per vector"
        )
    fits = len(given) < len(shape) and all(
        a in (1, b) for a, b in zip(reversed(given), reversed(shape[:-1]), strict=False)
    )
    if not fits:
        raise ValueError(
            f"x has shape {tuple(shape)} and positions {tuple(given)}; give positions (n,), or of "
            f"a shape that broadcasts to {tuple(shape[:-1])}"
        )
