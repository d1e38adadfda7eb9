"""Keys and values in fewer bits: whole numbers with a scale and a lowest value for each group.

``x ~ low + scale * number``, numbers from 0 to ``2**bits - 1`` (asymmetric, as KIVI has it). A
group is what shares a scale: the whole tensor, a channel (one number of every key), a token, or a
head. Keys have channels that stand far out, so they want a scale for each channel; values do not.

Sources: KIVI (arXiv 2402.02750), LLM.int8 on outliers (arXiv 2208.07339), FP8 (arXiv 2209.05433);
systems S17, S24, S42.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["GROUPS", "Quantized", "calibrate", "float8", "quantize", "relative_error"]

Array = npt.NDArray[Any]
# (kv_heads, tokens, head_dim): the axes over which a group reaches
GROUPS = {"tensor": (0, 1, 2), "head": (1, 2), "channel": (1,), "token": (2,)}
Range = tuple[Array, Array]


@dataclass(frozen=True)
class Quantized:
    """Numbers of ``bits`` bits, two in a byte for 4; a float16 scale and lowest value a group."""

    data: npt.NDArray[np.uint8]
    scale: npt.NDArray[np.float16]
    low: npt.NDArray[np.float16]
    bits: int
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers, and of what belongs to them."""
        return int(self.data.nbytes + self.scale.nbytes + self.low.nbytes)

    def restored(self) -> npt.NDArray[np.float32]:
        """Give the numbers back, as near as they are held."""
        numbers = self.data if self.bits == 8 else _unpacked(self.data, self.shape)
        found = self.low.astype(np.float32) + self.scale.astype(np.float32) * numbers
        return np.asarray(found, np.float32)


def quantize(x: Array, bits: int, group: str = "token", limits: Range | None = None) -> Quantized:
    """Quantise ``x`` (kv_heads, tokens, head_dim) to 8 or 4 bits with one scale for each ``group``.

    ``limits`` are lowest and highest values from ``calibrate``; what lies outside is clipped.
    Without them the values' own are taken. Raises ``ValueError`` for what cannot be.
    """
    if bits not in (8, 4):
        raise ValueError(f"bits is {bits}; give 8 or 4")
    if group not in GROUPS:
        raise ValueError(f"group is {group!r}; give {', '.join(GROUPS)}")
    if x.ndim != 3 or (bits == 4 and x.shape[2] % 2):
        raise ValueError(f"x is {x.shape}; give (kv_heads, tokens, head_dim), even for 4 bits")
    if not np.isfinite(x).all():
        raise ValueError("x holds numbers that are not finite: they would take the scale with them")
    low, high = limits or _limits(x, group, 0)
    low = low.astype(np.float16)
    scale = _scale(low, high, bits)
    step = np.where(scale > 0, scale, 1).astype(np.float32)
    numbers = np.clip(np.rint((x - low.astype(np.float32)) / step), 0, 2**bits - 1).astype(np.uint8)
    data = numbers if bits == 8 else (numbers[..., ::2] | numbers[..., 1::2] << np.uint8(4))
    return Quantized(data, scale, low, bits, x.shape)


def calibrate(samples: Array, group: str = "channel", percent: float = 0.1) -> Range:
    """Give limits from sample inputs that leave out ``percent`` at each end, as percentiles."""
    if not 0 <= percent < 50:
        raise ValueError(f"percent is {percent}; give 0 to less than 50")
    return _limits(samples, group, percent)


def float8(x: Array, kind: str = "e4m3") -> Array:
    """Round through an 8-bit float (e4m3 or e5m2) where torch has it; one scale for the tensor."""
    import torch

    kinds = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
    if kind not in kinds:
        raise ValueError(f"kind is {kind!r}; give e4m3 or e5m2")
    whole = torch.from_numpy(np.ascontiguousarray(x, np.float32))
    largest = torch.finfo(kinds[kind]).max
    scale = whole.abs().max().clamp(min=1e-12) / largest
    return np.asarray((whole / scale).to(kinds[kind]).float().mul(scale).numpy())


def relative_error(x: Array, near: Array) -> float:
    """Give the distance of two arrays over the length of the first."""
    return float(np.linalg.norm(near - x) / max(float(np.linalg.norm(x)), 1e-30))


def _limits(x: Array, group: str, percent: float) -> Range:
    low, high = np.percentile(
        x.astype(np.float32), (percent, 100 - percent), axis=GROUPS[group], keepdims=True
    )
    return low, high


def _scale(low: Array, high: Array, bits: int) -> npt.NDArray[np.float16]:
    """Give steps from the rounded lowest value up, long enough to reach the highest."""
    exact = (high - low.astype(np.float32)) / (2**bits - 1)
    scale = exact.astype(np.float16)
    short = scale.astype(np.float32) < exact
    longer = np.nextafter(scale, np.float16(np.inf))
    return np.asarray(np.where(short, longer, scale), np.float16)


def _unpacked(data: npt.NDArray[np.uint8], shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    numbers = np.empty(shape, np.uint8)
    numbers[..., ::2], numbers[..., 1::2] = data & 15, data >> 4
    return numbers
