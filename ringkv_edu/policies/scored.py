"""The tokens that got most attention stay, beside the most recent ones: heavy hitters.

The cache has ``budget`` slots a key/value head. Once they are full, a new token takes the slot of
the one that has got least attention so far, among those that are neither sinks nor among the
``recent`` newest (the query itself counted). Attention is summed over the query heads of a group
and over all queries since the token came, so an old token has had more time to gather some.

Each key/value head keeps other tokens, and in any order: a position can be read neither from a slot
nor from a clock, so positions travel with their keys, (batch, kv_heads, slots). With
``budget == recent + sinks`` there is never a choice, and this is the window with its sinks.

Source: H2O (arXiv 2306.14048); S34.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..inputs import count
from ..torch_bounds import without_gradients
from ..torch_joint import Part, joint_attention
from .base import Policy, Shape

__all__ = ["Scored", "ScoredCache"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Scored(Policy):
    """Keep ``budget`` tokens: ``sinks`` first ones, ``recent`` newest ones, and by score."""

    budget: int
    recent: int
    sinks: int = 0
    name = "scored"

    def __post_init__(self) -> None:
        for name, least in (("budget", 1), ("recent", 1), ("sinks", 0)):
            count(name, getattr(self, name), least)
        if self.budget < self.recent + self.sinks:
            raise ValueError(
                f"budget is {self.budget}, less than {self.recent} recent tokens and {self.sinks} "
                f"sinks together; give at least {self.recent + self.sinks}"
            )

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``: a cache decides, token by token, what each query sees.

        The attention has gradients, the decisions have none.
        """
        batch, n = len(k), k.shape[2]
        cache = self.cache(shape, batch, k, learned, sink)
        seen = torch.zeros(batch, shape.kv_heads, n, n + 1, dtype=torch.bool, device=k.device)
        for t, one in enumerate(zip(*(torch.split(x, 1, 2) for x in (q, k, v)), strict=True)):
            cache.step(*one)
            seen[:, :, t].scatter_(2, cache.positions % (n + 1), True)  # an empty slot's -1 is n
        mask = seen[..., :n].repeat_interleave(shape.heads // shape.kv_heads, 1)
        return joint_attention(q, [Part(k, v, mask)], shape.scale, sink)[0]

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> ScoredCache:
        """See ``Policy.cache``."""
        return ScoredCache(self, shape, batch, like, sink)


class ScoredCache:
    """Keys and values in ``budget`` slots, with each slot's position and attention so far.

    ``keys`` and ``values`` (batch, kv_heads, slots, head_dim); ``positions`` (batch, kv_heads,
    slots) int64, -1 where a slot is empty; ``scores`` alike, float32 at least. Rows are of one
    length.
    """

    def __init__(self, how: Scored, shape: Shape, batch: int, like: Tensor, sink: Any) -> None:
        self.how, self.shape, self.sink, self.length = how, shape, sink, 0
        room = (batch, shape.kv_heads, how.budget, shape.head_dim)
        self.keys = torch.zeros(room, dtype=like.dtype, device=like.device)
        self.values = torch.zeros_like(self.keys)
        wide = torch.promote_types(like.dtype, torch.float32)
        self.scores = torch.zeros(room[:3], dtype=wide, device=like.device)
        self.positions = torch.full_like(self.scores, -1, dtype=torch.int64)

    @property
    def seen(self) -> Tensor:
        """Tokens so far: (batch,)."""
        return torch.full((len(self.keys),), self.length)

    @property
    def nbytes(self) -> int:
        """Bytes of keys, values, positions and scores."""
        kept = (self.keys, self.values, self.positions, self.scores)
        return sum(x.nbytes for x in kept)

    def reset(self) -> None:
        """Forget everything."""
        self.length = 0
        self.positions.fill_(-1)
        for x in (self.keys, self.values, self.scores):
            x.zero_()

    @without_gradients
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row, one after the other; give what each of their queries sees."""
        each = zip(*(torch.split(x, 1, 2) for x in (q, k, v)), strict=True)
        return torch.cat([self._one(*one) for one in each], 2)

    def _one(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        slots = self._free()[..., None]
        wide = slots[..., None].expand(-1, -1, -1, k.shape[3])
        self.keys.scatter_(2, wide, k)
        self.values.scatter_(2, wide, v)
        self.positions.scatter_(2, slots, self.length)
        self.scores.scatter_(2, slots, 0)
        self.length += 1
        held = self.positions >= 0
        mask = held.repeat_interleave(self.shape.heads // self.shape.kv_heads, 1)[:, :, None]
        part = Part(self.keys, self.values, mask, at=self.positions)
        out, (weights,) = joint_attention(q, [part], self.shape.scale, self.sink)
        self.scores += torch.unflatten(weights, 1, (self.shape.kv_heads, -1)).sum((2, 3))
        return out

    def _free(self) -> Tensor:
        """Give the slot that the next token takes: (batch, kv_heads)."""
        if self.length < self.how.budget:
            return torch.full_like(self.positions[..., 0], self.length)
        old = self.positions <= self.length - self.how.recent
        may_leave = old & (self.positions >= self.how.sinks)
        return self.scores.masked_fill(~may_leave, torch.inf).argmin(-1)
