"""Everything is kept: what the other policies are compared with.

The storage doubles when it is full, so that a token costs no copy of all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..torch_joint import Part, joint_attention
from .base import Policy, Shape, causal

__all__ = ["Full"]

Tensor = torch.Tensor
BLOCK = 256  # queries that attend together


@dataclass(frozen=True)
class Full(Policy):
    """Keep every token."""

    name = "full"

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``."""
        n = k.shape[2]
        part = Part(k, v, causal(n, n, 0, k.device))
        return joint_attention(q, [part], shape.scale, sink)[0]

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return FullCache(shape, batch, like, sink)


class FullCache:
    """Keys and values of every token so far; rows are of one length."""

    def __init__(self, shape: Shape, batch: int, like: Tensor, sink: Any) -> None:
        self.shape, self.sink, self.length = shape, sink, 0
        room = (2, batch, shape.kv_heads, 64, shape.head_dim)
        self.storage = torch.zeros(room, dtype=like.dtype, device=like.device)

    @property
    def seen(self) -> Tensor:
        """Tokens so far: (batch,)."""
        return torch.full((self.storage.shape[1],), self.length)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that are kept (the storage may have room for more)."""
        return self.storage[:, :, :, : self.length].numel() * self.storage.element_size()

    def reset(self) -> None:
        """Forget everything."""
        self.length = 0

    @torch.no_grad()
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        start, n = self.length, k.shape[2]
        while start + n > self.storage.shape[3]:
            self.storage = torch.cat([self.storage, torch.zeros_like(self.storage)], dim=3)
        self.storage[0, :, :, start : start + n] = k
        self.storage[1, :, :, start : start + n] = v
        self.length += n
        return torch.cat(
            [self._some(q[:, :, i : i + BLOCK], start + i) for i in range(0, n, BLOCK)], dim=2
        )

    def _some(self, q: Tensor, start: int) -> Tensor:
        n = q.shape[2]
        keys, values = self.storage[:, :, :, : start + n]
        later = torch.arange(start + n, device=q.device) > torch.arange(start, start + n)[:, None]
        at = torch.arange(start + n, device=q.device)[None]
        part = Part(keys, values, None if n == 1 else ~later[None], at=at)
        return joint_attention(q, [part], self.shape.scale, self.sink)[0]
