"""One more lane on every vector, which carries the token's position through a foreign cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["tagged", "untagged"]

Array = npt.NDArray[Any]


def tagged(x: Array, first: int | None = None) -> Array:
    """Give (heads, n, head_dim) a batch and one more lane: zeros, or positions from ``first``."""
    lane = np.zeros((*x.shape[:2], 1), x.dtype)
    if first is not None:
        lane[..., 0] = np.arange(first, first + x.shape[1])
    return np.concatenate([x, lane], axis=2)[None]


def untagged(x: Any) -> Array:
    """Take the batch and the lane off again."""
    return np.asarray(x)[0, ..., :-1]
