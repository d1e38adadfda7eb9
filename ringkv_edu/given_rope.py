"""A rotation that lesson 04's later exercises start from. Graded runs may read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["turned"]


def turned(
    x: npt.ArrayLike, positions: npt.ArrayLike, base: float = 10000.0
) -> npt.NDArray[np.float64]:
    """Turn vectors to their positions (RoPE, half-split pairs), in float64.

    ``x`` (..., d), d even; ``positions``: one number for all vectors of ``x``, or one for each of
    the n vectors of (..., n, d). Pair i is taken as the complex number x[i] + 1j * x[i + d/2]; to
    turn it is to multiply by exp(1j * angle).
    Source: arXiv 2104.09864.
    """
    flat: npt.NDArray[np.float64] = np.asarray(x, dtype=np.float64)
    half = flat.shape[-1] // 2
    pairs = flat[..., :half] + 1j * flat[..., half:]
    angles = np.multiply.outer(positions, base ** (-np.arange(half) / half))
    after: npt.NDArray[Any] = pairs * np.exp(1j * angles)
    return np.concatenate([after.real, after.imag], axis=-1)
