"""Other projects' ring caches as peers of the torch ring; each is imported when it is made."""

from __future__ import annotations

from itertools import cycle
from typing import Any, ClassVar

import torch

from .torch_peers import Peer, Rolled, Sliced

__all__ = ["MLX_DTYPES", "Dynamic", "MlxPeer", "Static"]

Tensor = torch.Tensor
MLX_DTYPES = {torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16"}


class Dynamic(Peer):
    """The sliding layer of transformers' DynamicCache: W - 1 tokens and the new one."""

    name, package, spare = "transformers, dynamic", "transformers", 1

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        from transformers.cache_utils import DynamicSlidingWindowLayer

        self.window = keys.shape[2]
        self.layer: Any = DynamicSlidingWindowLayer(sliding_window=self.window)
        self.layer.update(keys, values)

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Update the layer."""
        keys, values = self.layer.update(k, v)
        return keys, values

    moved = Sliced.moved


class Static(Dynamic):
    """The sliding layer of transformers' StaticCache: rolled and copied back."""

    name = "transformers, static"

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        from transformers.cache_utils import StaticSlidingWindowLayer

        self.window = keys.shape[2]
        self.layer = StaticSlidingWindowLayer(max_cache_len=self.window, sliding_window=self.window)
        self.layer.update(keys, values)

    moved = Rolled.moved


class MlxPeer:
    """A rotating cache of mlx-lm, filled with ``keys`` and ``values`` (1, kv_heads, W, head_dim).

    ``tokens`` are the (q, k, v) that it decodes, over and over. mlx computes when it is asked to
    (`mx.eval`), with as many threads as it likes.
    """

    name: ClassVar[str] = "mlx-lm RotatingKVCache"
    package: ClassVar[str] = "mlx-lm"
    holds: ClassVar[float] = 1
    spare: ClassVar[float] = 1

    def __init__(
        self, keys: Tensor, values: Tensor, tokens: list[tuple[Tensor, Tensor, Tensor]]
    ) -> None:
        import mlx.core as mx
        from mlx_lm.models.cache import RotatingKVCache

        self.mx: Any = mx
        self.scale = keys.shape[3] ** -0.5
        with mx.stream(mx.cpu):
            self.cache: Any = RotatingKVCache(max_size=keys.shape[2])
            self.cache.update_and_fetch(self._taken(keys), self._taken(values))
            mx.eval(self.cache.keys, self.cache.values)
            self._tokens = cycle([tuple(self._taken(x) for x in token) for token in tokens])

    def write(self) -> None:
        """Store the next token."""
        mx = self.mx
        _, k, v = next(self._tokens)
        with mx.stream(mx.cpu):
            mx.eval(self.cache.update_and_fetch(k, v))

    def step(self) -> Any:
        """Store the next token and let its query attend."""
        mx = self.mx
        q, k, v = next(self._tokens)
        with mx.stream(mx.cpu):
            keys, values = self.cache.update_and_fetch(k, v)
            out = mx.fast.scaled_dot_product_attention(q, keys, values, scale=self.scale)
            mx.eval(out)
        return out

    def given(self, out: Any) -> Tensor:
        """Give what ``step`` gave as a float32 tensor."""
        mx = self.mx
        with mx.stream(mx.cpu):
            return torch.tensor(out.astype(mx.float32).tolist())

    def _taken(self, x: Tensor) -> Any:
        mx = self.mx
        made = mx.array(x.float().numpy()).astype(getattr(mx, MLX_DTYPES[x.dtype]))
        mx.eval(made)
        return made

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Read the window, write a token: it writes in place."""
        return window * token, token
