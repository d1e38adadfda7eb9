"""What leaves the window is added to a state of fixed size, and the state is put back in.

The state of a key/value head is the sum over all tokens that have left of phi(k) v^T, and of
phi(k): linear attention. A query reads it with phi(q): with a_j = phi(q) . phi(k_j) it gets the
mean of the values weighted by a_j, and the sum of the a_j says how much it found. That sum, times
a learned number for each query head, is the state's part in the softmax's denominator, beside the
window's exponentials: a state that finds nothing changes nothing.

phi is a softmax over ``features`` buckets of a learned linear map, one a key/value head. So it is
positive, never overflows, and can be read: a token is strewn over buckets, and a query looks into
some. Two tokens in one bucket can no longer be told apart: what is lost is lost by collision, not
by age. Keys and queries are turned back to position 0 first, or a key's bucket would depend on its
place.

The law: a position is seen exactly or is in the state, never both, and none is missing. Nothing
can be taken out again (a sum knows no members), so ``rewind`` refuses once something has left.

Source: S34, S39; linear attention (arXiv 2006.16236), a state beside a window as in
Infini-attention (arXiv 2404.07143), buckets as in Hedgehog's softmax map (arXiv 2402.04347).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..inputs import count
from ..rewind import RewindError
from ..torch_bounds import without_gradients
from ..torch_fold import turned_back
from ..torch_joint import Part, joint_attention
from ..torch_ring import TorchRing
from ..visibility import sees
from .base import Policy, Shape, causal

__all__ = ["Features", "State", "StateCache"]

Tensor = torch.Tensor
BLOCK = 128  # tokens of a chunk that are taken together


@dataclass(frozen=True)
class State(Policy):
    """Keep a window, ``sinks`` first tokens, and the rest as sums over ``features`` buckets."""

    window: int
    sinks: int = 0
    features: int = 16
    name = "state"

    def __post_init__(self) -> None:
        for name, least in (("window", 1), ("sinks", 0), ("features", 1)):
            count(name, getattr(self, name), least)

    def parameters(self, shape: Shape) -> Features:
        """Make the buckets' maps and the heads' numbers."""
        return Features(shape, self.features)

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``: every product with a token that has left, no sums kept."""
        n, at = k.shape[2], torch.arange(k.shape[2], device=k.device)
        exact = Part(k, v, causal(n, self.window, self.sinks, k.device))
        left = (at[:, None] - at >= self.window) & (at >= self.sinks)
        asked, kept = (learned(x, at[None], shape.base) for x in (q, k))
        found = _grouped(asked, kept.mT).masked_fill(~left, 0)
        return _together(q, [exact], _grouped(found, v), found.sum(-1), shape, learned, sink)

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> StateCache:
        """See ``Policy.cache``."""
        return StateCache(self, shape, batch, like, learned, sink)


class Features(nn.Module):
    """The learned map into buckets, and each query head's number for the state's weight."""

    def __init__(self, shape: Shape, features: int) -> None:
        super().__init__()
        self.map = nn.Parameter(torch.randn(shape.kv_heads, features, shape.head_dim))
        self.weight = nn.Parameter(torch.zeros(shape.heads))

    def forward(self, x: Tensor, positions: Tensor, base: float) -> Tensor:
        """Give how vectors (batch, heads or kv_heads, m, head_dim) are strewn over the buckets.

        ``positions`` (batch or 1, m) are those that they were turned to. The result (batch, heads
        or kv_heads, m, features), float32 at least, sums to 1.
        """
        flat = turned_back(x.to(self.map.dtype), positions, base)
        maps = self.map.repeat_interleave(x.shape[1] // len(self.map), 0)
        return (flat @ maps.mT).softmax(-1)


class StateCache:
    """A ring, and beside it the sums over what has left it; rows are of one length.

    ``sums`` (batch, kv_heads, features, head_dim) and ``mass`` (batch, kv_heads, features), float32
    at least.
    """

    def __init__(
        self, how: State, shape: Shape, batch: int, like: Tensor, learned: Features, sink: Any
    ) -> None:
        self.ring = TorchRing(
            how.window, batch, shape.kv_heads, shape.head_dim, how.sinks, 0, like.dtype, like.device
        )
        self.shape, self.learned, self.sink, self.length = shape, learned, sink, 0
        wide = torch.promote_types(like.dtype, torch.float32)
        room = (batch, shape.kv_heads, how.features, shape.head_dim)
        self.sums = torch.zeros(room, dtype=wide, device=like.device)
        self.mass = torch.zeros_like(self.sums[..., 0])

    keys = property(lambda self: self.ring.keys)
    seen = property(lambda self: self.ring.seen)

    @property
    def nbytes(self) -> int:
        """Bytes of the ring's keys and values and of the state."""
        return self.ring.nbytes + self.sums.nbytes + self.mass.nbytes

    def reset(self) -> None:
        """Forget everything."""
        self.ring.reset()
        self.length = 0
        self.sums.zero_()
        self.mass.zero_()

    def rewind(self, n: int) -> None:
        """Take back the newest ``n`` tokens; ``RewindError`` once a token is in the state."""
        left = self.length - self.ring.window - self.ring.sinks
        if n and left > 0:
            raise RewindError(
                f"rewind({n}): {left} tokens have left the window and are in the state, and "
                f"nothing can be taken out of a sum. Start again with reset()"
            )
        self.ring.rewind(n)
        self.length -= n

    @without_gradients
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        parts = zip(*(torch.split(x, BLOCK, 2) for x in (q, k, v)), strict=True)
        return torch.cat([self._some(*part) for part in parts], 2)

    def _some(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        ring, n = self.ring, k.shape[2]
        queries = torch.arange(self.length, self.length + n, device=k.device)
        positions = torch.cat([ring.positions, queries.expand(len(k), -1)], 1)[:1]
        keys, values = torch.cat([ring.keys, k], 2), torch.cat([ring.values, v], 2)
        exact = sees(queries[:, None], positions[:, None], ring.window, ring.sinks)
        leaving = (positions[0] >= ring.sinks) & (positions[0] <= self.length + n - 1 - ring.window)
        some, rows, places = keys[:, :, leaving], values[:, :, leaving], positions[:, leaving]
        kept = self.learned(some, places, self.shape.base)
        asked = self.learned(q, queries[None], self.shape.base)
        found = _grouped(asked, kept.mT)
        found = found.masked_fill(queries[:, None] - places[0] < ring.window, 0)
        got = _grouped(asked, self.sums) + _grouped(found, rows.to(found.dtype))
        mass = _grouped(asked, self.mass[..., None])[..., 0] + found.sum(-1)
        parts = [Part(keys, values, exact, at=positions)]
        out = _together(q, parts, got, mass, self.shape, self.learned, self.sink)
        self.sums += kept.mT @ rows.to(kept.dtype)
        self.mass += kept.sum(2)
        ring.append(k, v)
        self.length += n
        return out


def _grouped(x: Tensor, y: Tensor) -> Tensor:
    """Multiply (batch, heads, n, a) by (batch, kv_heads, a, b): a group of heads shares one."""
    batch, heads, n, width = x.shape
    folded = x.reshape(batch, y.shape[1], heads // y.shape[1] * n, width) @ y
    return folded.view(batch, heads, n, y.shape[-1])


def _together(
    q: Tensor,
    parts: list[Part],
    got: Tensor,
    mass: Tensor,
    shape: Shape,
    learned: Features,
    sink: Any,
) -> Tensor:
    """Attend to what is held exactly and to the state, with one denominator.

    ``got`` (batch, heads, n, head_dim), the sums that queries read; ``mass`` (batch, heads, n).
    """
    tiny = torch.finfo(mass.dtype).tiny
    score = torch.where(mass > 0, mass.clamp(min=tiny).log() + learned.weight[:, None], -torch.inf)
    blank = parts[0].keys.new_zeros(len(q), shape.kv_heads, 1, shape.head_dim)
    blanks = Part(blank, blank, score[..., None])  # it takes its weight and gives nothing
    out, weights = joint_attention(q, [*parts, blanks], shape.scale, sink)
    return out + (weights[-1] * got / mass.clamp(min=tiny)[..., None]).to(out.dtype)
