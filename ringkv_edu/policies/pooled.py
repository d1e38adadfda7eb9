"""What leaves the window is folded into means, each with the weight of its tokens.

``pool`` says which keys are averaged: ``rotated`` as they were stored, or ``centre``: turned back
from their positions and, as a mean, turned to the centre of their block. The summaries obey the
law of ``ringkv_edu.summaries``.

Source: S24, S33, S34; D6 for the logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch

from ..summaries import Fold, Merge
from ..torch_fold import Ask, means_of, turned_back, turned_to
from ..torch_joint import Part, joint_attention
from ..torch_summaries import TorchSummaryRing
from .base import Policy, Shape, causal

__all__ = ["Pooled"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Pooled(Policy):
    """Keep a window, ``sinks`` first tokens, and ``summaries`` means of ``block`` tokens."""

    window: int
    sinks: int = 0
    summaries: int = 8
    block: int = 4
    merge: Merge = "oldest"
    pool: Literal["rotated", "centre"] = "rotated"
    name = "pooled"

    def __post_init__(self) -> None:
        if self.pool not in ("rotated", "centre"):
            raise ValueError(f"pool is {self.pool!r}; give 'rotated' or 'centre'")

    @property
    def how(self) -> Fold:
        """How tokens are folded."""
        return Fold(self.summaries, self.block, self.merge).checked()

    def base(self, shape: Shape) -> float | None:
        """Give the base by which keys are turned back before they are averaged, if they are."""
        return shape.base if self.pool == "centre" else None

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``: the same plan as a cache follows, for all queries at once."""
        n, base, at = k.shape[2], self.base(shape), torch.arange(k.shape[2], device=k.device)
        exact = Part(k, v, causal(n, self.window, self.sinks, k.device))
        ask = Ask((), 1 - self.window - self.sinks, n, 0)
        table = means_of((ask,), self.how, n, k.dtype, k.device)
        left = slice(self.sinks, self.sinks + table.tokens)
        share = table.weights[:, None, :, self.summaries :].to(k.dtype)
        keys = share @ turned_back(k[:, :, left], at[None, left], base)
        keys = turned_to(keys, self.sinks + table.centres, base)
        means = Part(keys, share @ v[:, :, left], table.extra)
        return joint_attention(q, [exact, means], shape.scale, sink)[0]

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        cache = TorchSummaryRing(
            self.window, batch, shape.kv_heads, shape.head_dim, self.summaries, self.block,
            self.merge, self.sinks, dtype=like.dtype, device=like.device, base=self.base(shape),
        )  # fmt: skip
        cache.sink = sink
        return cache
