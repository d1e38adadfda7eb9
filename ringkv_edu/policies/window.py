"""No compensation: a window, and what has left it is gone. With ``sinks`` the first tokens stay.

``positions`` says at which distance a query meets the sinks. ``absolute``: at the true one, which
grows without end. ``cache``: as StreamingLLM does, at the distance that their rank in the cache
gives, so that no distance is ever larger than the cache. The window's tokens have the same
distances either way. For the sinks the query is turned back by what lies between: a product of two
turned vectors depends on their distance alone, so that is the same as turning the keys on.

Source: Mistral 7B (arXiv 2310.06825), StreamingLLM (arXiv 2309.17453); S23.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch

from ..rope import rotate
from ..torch_joint import Part, joint_attention, watched
from ..torch_ring import TorchRing
from ..visibility import sees
from .base import Policy, Shape, causal

__all__ = ["Sinks", "Window"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Window(Policy):
    """Keep the last ``window`` tokens, the newest included."""

    window: int
    name = "window"

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``."""
        part = Part(k, v, causal(k.shape[2], self.window, 0, k.device))
        return joint_attention(q, [part], shape.scale, sink)[0]

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return RingCache(shape, batch, like, self.window, 0, sink)


@dataclass(frozen=True)
class Sinks(Policy):
    """Keep the first ``sinks`` tokens and the last ``window`` ones."""

    window: int
    sinks: int
    positions: Literal["absolute", "cache"] = "absolute"
    name = "sinks"

    def __post_init__(self) -> None:
        if self.positions not in ("absolute", "cache"):
            raise ValueError(f"positions is {self.positions!r}; give 'absolute' or 'cache'")

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``."""
        seen = causal(k.shape[2], self.window, self.sinks, k.device)
        if self.positions == "absolute":
            return joint_attention(q, [Part(k, v, seen)], shape.scale, sink)[0]
        first, rest = slice(0, self.sinks), slice(self.sinks, None)
        at = torch.arange(k.shape[2], device=k.device)[None]
        near = turned_nearer(q, at, self.window, self.sinks, shape.base)
        parts = [
            Part(k[:, :, first], v[:, :, first], seen[:, :, first], near),
            Part(k[:, :, rest], v[:, :, rest], seen[:, :, rest]),
        ]
        return joint_attention(q, parts, shape.scale, sink)[0]

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        kind = RankedCache if self.positions == "cache" and self.sinks else RingCache
        return kind(shape, batch, like, self.window, self.sinks, sink)


class RingCache:
    """A ``TorchRing`` as a layer's cache; with a learned sink logit, one more in the softmax."""

    def __init__(
        self, shape: Shape, batch: int, like: Tensor, window: int, sinks: int, sink: Any
    ) -> None:
        sizes: dict[str, Any] = {
            "kv_heads": shape.kv_heads,
            "head_dim": shape.head_dim,
            "sinks": sinks,
        }
        self.ring = TorchRing(window, batch, **sizes, dtype=like.dtype, device=like.device)
        self.shape, self.sink = shape, sink

    seen = property(lambda self: self.ring.seen)
    nbytes = property(lambda self: self.ring.nbytes)

    def reset(self) -> None:
        """Forget everything."""
        self.ring.reset()

    @torch.no_grad()
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        if self.sink is None and not watched():
            return self.ring.step(q, k, v)
        ring, queries = self.ring, self._queries(k.shape[2])
        parts = [
            self._part(queries, ring.positions, ring.keys, ring.values),
            self._part(queries, queries, k, v),
        ]
        out, _ = joint_attention(q, parts, self.shape.scale, self.sink)
        ring.append(k, v)
        return out

    def _queries(self, n: int) -> Tensor:
        return self.ring.seen[:, None] + torch.arange(n, device=self.ring.keys.device)

    def _part(self, queries: Tensor, held: Tensor, keys: Tensor, values: Tensor) -> Part:
        ring = self.ring
        seen = sees(queries[:, :, None], held[:, None], ring.window, ring.sinks)
        return Part(keys, values, seen, at=held)


class RankedCache(RingCache):
    """Sinks at the distance that their rank in the cache gives."""

    @torch.no_grad()
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        ring, s, queries = self.ring, self.ring.sinks, self._queries(k.shape[2])
        near = turned_nearer(q, queries, ring.window, s, self.shape.base)
        new = max(0, min(k.shape[2], s - int(ring.seen.min())))  # sinks among these tokens
        held, keys, values = ring.positions, ring.keys, ring.values
        parts = [
            self._part(queries, held[:, :s], keys[:, :, :s], values[:, :, :s])._replace(q=near),
            self._part(queries, held[:, s:], keys[:, :, s:], values[:, :, s:]),
            self._part(queries, queries[:, :new], k[:, :, :new], v[:, :, :new])._replace(q=near),
            self._part(queries, queries[:, new:], k[:, :, new:], v[:, :, new:]),
        ]
        out, _ = joint_attention(q, parts, self.shape.scale, self.sink)
        ring.append(k, v)
        return out


def turned_nearer(q: Tensor, queries: Tensor, window: int, sinks: int, base: float) -> Tensor:
    """Turn queries at positions (batch or 1, n) back by what lies between the sinks and the window.

    In a full cache a query has rank ``sinks + window - 1``, wherever it stands.
    """
    between = (queries - (sinks + window - 1)).clamp(min=0)
    return rotate(q, -between[:, None], base)
