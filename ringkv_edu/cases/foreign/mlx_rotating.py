"""The rotating cache of mlx-lm, which runs on Apple silicon and, on the CPU, on Linux.

Read against mlx-lm 0.32.2. ``max_size`` there is our sinks + window, ``keep`` our sinks. The mask
is the one that the cache makes for itself, before the update, as the models ask for it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .tagged import tagged, untagged

__all__ = ["RotatingCache", "RotatingCacheTrim"]

Array = npt.NDArray[Any]


class RotatingCache:
    """``RotatingKVCache``; ``rewind`` is mlx-lm's public ``trim_prompt_cache``."""

    offers = ("sinks", "state", "bytes")

    def __init__(self, window: int, kv_heads: int, head_dim: int, sinks: int = 0) -> None:
        from mlx_lm.models.cache import RotatingKVCache

        self.window, self.head_dim, self.sinks = window, head_dim, sinks
        self.cache = RotatingKVCache(max_size=sinks + window, keep=sinks)

    def reset(self) -> None:
        """Say that this cache has no reset."""
        raise NotImplementedError

    def append(self, k: Array, v: Array) -> None:
        """Update the cache and leave what it gives back."""
        self._update(k, v)

    def step(self, q: Array, k: Array, v: Array) -> Array:
        """Ask for the mask, update, attend."""
        import mlx.core as mx

        mask = self.cache.make_mask(q.shape[1])
        keys, values = self._update(k, v)
        scale = self.head_dim**-0.5
        out = mx.fast.scaled_dot_product_attention(
            mx.array(tagged(q)), keys, values, scale=scale, mask=mask
        )
        return untagged(out)

    def positions(self) -> list[int]:
        """Read the positions off the values that the cache holds."""
        if self.cache.empty():
            return []
        values = np.asarray(self.cache.keys_and_values()[1])
        return [round(p) for p in values[0, 0, :, -1].tolist()]

    def rewind(self, n: int) -> None:
        """Trim through the public door, which asks ``is_trimmable`` first."""
        from mlx_lm.models.cache import trim_prompt_cache

        taken = trim_prompt_cache([self.cache], n)
        if taken != n:
            raise ValueError(f"trimmed {taken} tokens, not {n}")

    @property
    def nbytes(self) -> int:
        """The bytes that the cache counts."""
        return int(self.cache.nbytes)

    def state_dict(self) -> dict[str, Any]:
        """Save the cache as mlx-lm does, into a file, and keep what stands in it."""
        from mlx_lm.models.cache import save_prompt_cache

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "cache.safetensors")
            save_prompt_cache(str(path), [self.cache])
            sizes = {"window": self.window, "head_dim": self.head_dim, "sinks": self.sinks}
            return {"file": path.read_bytes(), **sizes}

    @classmethod
    def from_state_dict(cls, state: dict[str, Any]) -> RotatingCache:
        """Load a saved cache."""
        from mlx_lm.models.cache import load_prompt_cache

        cache = cls(state["window"], 1, state["head_dim"], state["sinks"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "cache.safetensors")
            path.write_bytes(state["file"])
            (cache.cache,) = load_prompt_cache(str(path))
        return cache

    def _update(self, k: Array, v: Array) -> Any:
        import mlx.core as mx

        first = self.cache.offset
        return self.cache.update_and_fetch(mx.array(tagged(k)), mx.array(tagged(v, first)))


class RotatingCacheTrim(RotatingCache):
    """The same cache, taken back by its own ``trim``, which asks nobody."""

    def rewind(self, n: int) -> None:
        """Trim the cache itself."""
        taken = self.cache.trim(n)
        if taken != n:
            raise ValueError(f"trimmed {taken} tokens, not {n}")
