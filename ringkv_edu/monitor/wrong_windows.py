"""Windows with a fault, each a real one: what a diagnosis is tried on. None is for use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..policies import Policy, Shape
from ..policies.full import FullCache
from ..torch_joint import Part, joint_attention
from ..visibility import sees

__all__ = ["CutInHalf", "Masked", "Preallocated"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Masked(Policy):
    """A window that is only a mask: right outputs, and nothing is ever evicted."""

    window: int
    sinks: int = 0
    name = "masked"

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return MaskedCache(shape, batch, like, sink, self)


class MaskedCache(FullCache):
    """All tokens are stored; a query is let see the last ones."""

    def __init__(self, shape: Shape, batch: int, like: Tensor, sink: Any, policy: Masked) -> None:
        super().__init__(shape, batch, like, sink)
        self.policy = policy

    def _some(self, q: Tensor, start: int) -> Tensor:
        n = q.shape[2]
        keys, values = self.storage[:, :, :, : start + n]
        at = torch.arange(start + n)
        seen = sees(at[start:, None], at, self.policy.window, self.policy.sinks)
        part = Part(keys, values, seen[None], at=at[None])
        return joint_attention(q, [part], self.shape.scale, self.sink)[0]


@dataclass(frozen=True)
class Preallocated(Policy):
    """A window that is a view of a buffer for the longest text: what it reports is not paid."""

    window: int
    longest: int
    sinks: int = 0
    name = "preallocated"

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return PreallocatedCache(shape, batch, like, sink, self)


class PreallocatedCache(MaskedCache):
    """Room for ``longest`` tokens from the start; it reports the bytes of the window alone."""

    def __init__(
        self, shape: Shape, batch: int, like: Tensor, sink: Any, policy: Preallocated
    ) -> None:
        super().__init__(shape, batch, like, sink, Masked(policy.window, policy.sinks))
        self.storage = self.storage.new_zeros(
            2, batch, shape.kv_heads, policy.longest, shape.head_dim
        )

    @property
    def positions(self) -> Tensor:
        """The positions of sinks and window: (1, held)."""
        at = torch.arange(self.length)
        return at[sees(self.length - 1, at, self.policy.window, self.policy.sinks)][None]

    @property
    def nbytes(self) -> int:
        """Bytes of sinks and window alone."""
        last = self.positions.shape[1]
        return self.storage[:, :, :, :last].numel() * self.storage.element_size()


@dataclass(frozen=True)
class CutInHalf(Policy):
    """When the window is full its older half is thrown away at once: half the cuts, twice as deep.

    What a query sees goes up and down like a saw.
    """

    window: int
    name = "cut in half"

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return CutCache(shape, batch, like, sink, self.window)


class CutCache:
    """Keys and values in order of time, cut when there are more than ``window``."""

    def __init__(self, shape: Shape, batch: int, like: Tensor, sink: Any, window: int) -> None:
        self.shape, self.sink, self.window, self.total = shape, sink, window, 0
        self.keys = like.new_zeros(batch, shape.kv_heads, 0, shape.head_dim)
        self.values = self.keys

    @property
    def seen(self) -> Tensor:
        """Tokens so far: (batch,)."""
        return torch.full((len(self.keys),), self.total)

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return self.keys.nbytes + self.values.nbytes

    @property
    def positions(self) -> Tensor:
        """The positions held: (1, held)."""
        return torch.arange(self.total - self.keys.shape[2], self.total)[None]

    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row, one after the other; give what each of their queries sees."""
        one = zip(*(torch.split(x, 1, dim=2) for x in (q, k, v)), strict=True)
        return torch.cat([self._step(*token) for token in one], dim=2)

    def _step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self.keys.shape[2] == self.window:
            half = self.window // 2
            self.keys, self.values = self.keys[:, :, half:], self.values[:, :, half:]
        self.keys, self.values = torch.cat([self.keys, k], 2), torch.cat([self.values, v], 2)
        self.total += 1
        part = Part(self.keys, self.values, at=self.positions)
        return joint_attention(q, [part], self.shape.scale, self.sink)[0]
