"""Caches with a fault in keys or summaries: what a diagnosis is tried on. None is for use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..policies import Policy, Pooled, Shape, Sinks
from ..policies.window import RingCache
from ..rope import rotate
from ..summaries import Fold
from ..torch_joint import Part, joint_attention

__all__ = ["Listed", "Spiked", "TooOften", "TurnedTwice"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class TooOften(Pooled):
    """A block is closed when the window's length is a multiple of the interval (D2).

    The length of a full window no longer changes. So the condition holds at every token, or at
    none.
    """

    name = "too often"

    @property
    def how(self) -> Fold:
        """How tokens are folded: the interval that comes of the condition."""
        every_token = self.window % self.block == 0
        return Fold(self.summaries, 1 if every_token else 2**30, self.merge).checked()

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        how = self.how
        real = Pooled(self.window, self.sinks, how.slots, how.block, how.merge, self.pool)
        return real.cache(shape, batch, like, learned, sink)


@dataclass(frozen=True)
class TurnedTwice(Sinks):
    """Keys that the model has turned already are turned by the cache once more.

    Whose business RoPE is differs from framework to framework: some caches take keys as they are
    and turn them, some take turned keys.
    """

    name = "turned twice"

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return TurningCache(shape, batch, like, self.window, self.sinks, sink)


class TurningCache(RingCache):
    """A ring that turns the keys it is given."""

    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        at = self.ring.seen[:, None, None] + torch.arange(k.shape[2])
        return super().step(q, rotate(k, at, self.shape.base), v)


@dataclass(frozen=True)
class Spiked(Sinks):
    """One key is stored many times too large, as by a scale that belongs to another block."""

    at: int = 100
    times: float = 30.0
    name = "spiked"

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return SpikedCache(shape, batch, like, self.window, self.sinks, sink, self.at, self.times)


class SpikedCache(RingCache):
    """A ring with one key too large."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given[:-2])
        self.at, self.times = given[-2:]

    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        at = int(self.ring.seen[0]) + torch.arange(k.shape[2])
        return super().step(q, torch.where((at == self.at)[:, None], k * self.times, k), v)


@dataclass(frozen=True)
class Listed(Policy):
    """Every ``every`` tokens a mean of the live window joins a list that nobody ever cuts (D4).

    A token counts by itself and in one or two summaries while it lives, in window/every of them
    afterwards, and the list grows with the text.
    """

    window: int
    every: int
    name = "listed"

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> Any:
        """See ``Policy.cache``."""
        return ListedCache(shape, batch, like, self.window, self.every, sink)


class ListedCache(RingCache):
    """A ring, and a list of means."""

    def __init__(
        self, shape: Shape, batch: int, like: Tensor, window: int, every: int, sink: Any
    ) -> None:
        super().__init__(shape, batch, like, window, 0, sink)
        self.every = every
        self.means = [self.ring.keys[:, :, :0], self.ring.values[:, :, :0]]

    @property
    def nbytes(self) -> int:
        """Bytes of the ring and of the list."""
        return int(self.ring.nbytes) + sum(x.nbytes for x in self.means)

    @property
    def counts(self) -> Tensor:
        """How many tokens each summary stands for: (1, summaries)."""
        return torch.full((1, self.means[0].shape[2]), self.ring.window)

    @torch.no_grad()
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row, one after the other; give what each of their queries sees."""
        one = zip(*(torch.split(x, 1, dim=2) for x in (q, k, v)), strict=True)
        return torch.cat([self._step(*token) for token in one], dim=2)

    def _step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        ring = self.ring
        ring.append(k, v)
        seen = int(ring.seen[0])
        held = self._part(ring.seen[:, None] - 1, ring.positions, ring.keys, ring.values)
        extra = q.new_full((1, 1, self.means[0].shape[2]), ring.window).log()
        keys, values = self.means
        parts = [Part(keys, values, extra), held]
        out = joint_attention(q, parts, self.shape.scale, self.sink)[0]
        if seen >= ring.window and seen % self.every == 0:
            new = [x.mean(2, keepdim=True) for x in (ring.keys, ring.values)]
            self.means = [torch.cat(both, 2) for both in zip(self.means, new, strict=True)]
        return out
