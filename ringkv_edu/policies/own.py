"""A class of rings that somebody else wrote, a learner for one, as every layer's cache.

Such a class is made by name from ``window``, ``kv_heads`` and ``head_dim`` and has
``append(k, v)``, ``keys``, ``values`` and ``positions``: what it needs is written in
``ringkv_edu.adapters.any_ring``.

**Nothing is repaired.** Tokens are given one at a time, stored first, and then attend to every slot
that holds a token, as the ring's ``positions`` say. No window is laid over them: a ring that keeps
one token too many lets the model see it. And the position of the next token, by which its query
and key are turned, is what the ring says: its ``seen``, or where it has none one more than its
newest position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..torch_joint import Part, joint_attention
from .base import Policy, Shape

__all__ = ["Own", "OwnCache"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Own(Policy):
    """Keep what rings made by ``make`` keep; ``sinks`` only for a class that takes them."""

    make: Any
    window: int
    sinks: int = 0
    name = "own"

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``; through a cache, and so without gradients."""
        out: Tensor = self.cache(shape, len(k), k, learned, sink).step(q, k, v)
        return out

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``. Raises ``TypeError`` for a class that lacks what is needed."""
        return OwnCache(self, shape, batch, like, sink)


class OwnCache:
    """One layer's rings: one for the batch, or one for each row."""

    def __init__(self, policy: Own, shape: Shape, batch: int, like: Tensor, sink: Any) -> None:
        from ..adapters.any_ring import made_by

        none = like.new_empty((batch, shape.kv_heads, 0, shape.head_dim))
        self.store = made_by(policy.make, none, policy.window, policy.sinks, 0)
        self.shape, self.sink = shape, sink

    @property
    def seen(self) -> Tensor:
        """The next token's position, as the rings say: (batch,)."""
        told = [getattr(ring, "seen", None) for ring in self.store.rings]
        if any(seen is None or callable(seen) for seen in told):
            return self.positions.amax(1) + 1
        each = torch.cat([torch.as_tensor(seen).reshape(-1) for seen in told])
        return each.expand(len(self.store.seen)).long()

    @property
    def positions(self) -> Tensor:
        """What the rings say that their slots hold: (batch, slots), -1 for nothing."""
        return self.store.held()[2]

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values, as the rings show them."""
        keys, values, _ = self.store.held()
        return int(keys.nbytes + values.nbytes)

    def reset(self) -> None:
        """Forget everything."""
        self.store.reset()

    @torch.no_grad()
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row, one after the other; give what each of their queries sees."""
        out = []
        for t in range(k.shape[2]):
            at = slice(t, t + 1)
            self.store.append(k[:, :, at], v[:, :, at], None)
            keys, values, positions = self.store.held()
            seen = self.store.newest(positions)[:, None]
            part = Part(keys, values, seen, at=positions)
            out.append(joint_attention(q[:, :, at], [part], self.shape.scale, self.sink)[0])
        return torch.cat(out, 2)
