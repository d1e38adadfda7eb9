"""Lesson 09: right and wrong ways to hold a block in 8 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import answers

Array = npt.NDArray[Any]
Axes = int | tuple[int, ...]
Change = Callable[[Array], Array]
Limits = Callable[[Array, Axes], tuple[Array, Array]]
Held = tuple[Array, Array, Array]


def quantized_block(keys: Array, values: Array) -> tuple[Held, Held]:
    """Give (numbers, scale, low) of the keys, by channel, and of the values, by token."""
    return held(keys, 1), held(values, 2)


def restored(numbers: Array, scale: Array, low: Array) -> Array:
    """Give the values back, as near as they are held."""
    back: Array = low + scale * numbers
    return back


def own_limits(x: Array, along: Axes) -> tuple[Array, Array]:
    return x.min(axis=along, keepdims=True), x.max(axis=along, keepdims=True)


def symmetric(x: Array, along: Axes) -> tuple[Array, Array]:
    most = np.abs(x).max(axis=along, keepdims=True)
    return -most, most


def from_zero(x: Array, along: Axes) -> tuple[Array, Array]:
    high = x.max(axis=along, keepdims=True)
    return np.zeros_like(high), high


def to_byte(numbers: Array) -> Array:
    return numbers.astype(np.int64).astype(np.uint8)  # wraps, and is the same everywhere


def clipped(numbers: Array) -> Array:
    return np.clip(numbers, 0, 255).astype(np.uint8)


def or_one(scale: Array) -> Array:
    return np.where(scale == 0, 1, scale)


def held(
    x: Array, along: Axes, limits: Limits = own_limits, steps: int = 255,
    rounded: Change = np.rint, to_byte: Change = to_byte, divisor: Change = or_one,
) -> Held:  # fmt: skip
    low, high = limits(x, along)
    scale = (high - low) / steps
    return to_byte(rounded((x - low) / divisor(scale))), scale, low


def grouped(keys: Axes, values: Axes) -> dict[str, Any]:
    return answers(quantized_block=lambda k, v: (held(k, keys), held(v, values)))


def changed(**parts: Any) -> dict[str, Any]:
    return answers(quantized_block=lambda k, v: (held(k, 1, **parts), held(v, 2, **parts)))
