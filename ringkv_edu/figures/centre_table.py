"""What a block's mean key gets of its true weight, by where the mean is turned to."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_rope import turned
from ..graded import draw

__all__ = ["WAYS", "centre_table", "times_true", "typical"]

Array = npt.NDArray[Any]
DRAWS, TOKENS, HEAD_DIM, FIRST = 1000, 8, 16, 1000
NEAREST, FARTHEST = 8, 200
Way = Callable[[Array, Array, Array], Array]  # of keys as stored, unturned keys, positions
WAYS: dict[str, Way] = {
    "averaged as stored": lambda stored, flat, at: stored.mean(axis=0),
    "turned to the centre": lambda stored, flat, at: turned(flat.mean(axis=0), at.mean()),
    "turned to the newest": lambda stored, flat, at: turned(flat.mean(axis=0), at[-1]),
    "left at position 0": lambda stored, flat, at: flat.mean(axis=0),
}


def times_true(seed: int = 0) -> dict[str, Array]:
    """Give for each way the summary's weight, log n included, in parts of the 8 tokens' own.

    One number for each of 1,000 draws. Keys (8, 16) are alike: one common vector and a little of
    their own. The query stands 8 to 200 places behind the block.
    """
    rng = draw(seed, "centre")
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    at = np.arange(FIRST, FIRST + TOKENS)
    for _ in range(DRAWS):
        common = _normal(rng, HEAD_DIM)
        flat = common + 0.3 * _normal(rng, TOKENS, HEAD_DIM)
        there = at[-1] + rng.randrange(NEAREST, FARTHEST + 1)
        query = turned(common + _normal(rng, HEAD_DIM), there) / HEAD_DIM**0.5
        stored = turned(flat, at)
        true = np.exp(stored @ query).sum()
        for way, key in WAYS.items():
            found[way].append(TOKENS * np.exp(key(stored, flat, at) @ query) / true)
    return {way: np.array(some) for way, some in found.items()}


def _normal(rng: Random, *shape: int) -> Array:
    return np.array([rng.gauss(0, 1) for _ in range(int(np.prod(shape)))]).reshape(shape)


def typical(some: Array) -> float:
    """Give by which factor numbers that should be 1 are off, typically, up or down."""
    return float(np.exp(np.abs(np.log(some)).mean()))


def centre_table() -> str:
    """Write on a line for each way by which factor it is off, and the extremes."""
    lines = [f"{'weight, in parts of the true one':34} off by   least  largest"]
    for way, some in times_true().items():
        numbers = (typical(some), some.min(), some.max())
        lines.append(f"{way:34}" + "".join(f"{x:8.2f}" for x in numbers))
    return "\n".join(lines)
