"""The caches that `ringkv bench torch` measures the ring against, each full from the start.

A peer is made from ``keys`` and ``values`` (batch, kv_heads, W, head_dim), the last W tokens in
order of time, which it copies. ``write`` stores one more token, ``k`` and ``v`` (batch, kv_heads,
1, head_dim), and gives the keys and values that a query at it sees.

``holds`` and ``spare`` say how much memory a peer takes for good and during a write, ``moved`` what
a decode step must read and write, all in units of the keys and values of a window; a token's own
keys and values are ``moved``'s ``token``. Queries, scores and positions are left out: small.
"""

from __future__ import annotations

from typing import ClassVar

import torch

from ..torch_ring import TorchRing
from .torch_attentions import Attention

__all__ = ["Growing", "Linear", "Peer", "Ring", "Rolled", "Sliced"]

Tensor = torch.Tensor
FILL = 1024  # tokens stored at once when a ring is filled
DRIFT = 64  # what changes with each token may change by 1/64 between two measurements


class Peer:
    """One cache: what it is called, what it keeps, how it writes."""

    name: ClassVar[str] = ""
    package: ClassVar[str] = ""  # what must be installed, besides torch
    holds: ClassVar[float] = 1
    spare: ClassVar[float] = 0

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.window = keys.shape[2]
        self.keys, self.values = keys.clone(), values.clone()

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store one token; give what a query at it sees."""
        raise NotImplementedError

    def step(self, q: Tensor, k: Tensor, v: Tensor, attend: Attention) -> Tensor:
        """Store one token and let its query attend."""
        return attend(q, *self.write(k, v))

    def prepare(self) -> bool:
        """Do what must not be timed before a step; say whether much was moved."""
        return False

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Give the bytes that a step must read and write."""
        raise NotImplementedError


class Ring(Peer):
    """The course's ring, as it ships: its own write and its own attention.

    With fewer tokens than ``window`` it is held at about as many, as `Growing` is.
    """

    name = "TorchRing"

    def __init__(self, keys: Tensor, values: Tensor, window: int | None = None) -> None:
        _, kv_heads, n, head_dim = keys.shape
        self.window, self.held = window or n, n
        self.ring = TorchRing(
            self.window, 1, kv_heads, head_dim, dtype=keys.dtype, device=keys.device
        )
        for start in range(0, n, FILL):
            some = slice(start, start + FILL)
            self.ring.append(keys[:, :, some], values[:, :, some])
        self.keys, self.values = self.ring.keys, self.ring.values
        self.seen = n
        self.prepare()

    def prepare(self) -> bool:
        """Take back what a ring that is to stay short has taken in."""
        due = self.held < self.window and self.seen >= self.held + self.held // DRIFT
        if due:
            self.ring.rewind(self.seen - self.held + 1)
            self.seen = self.held - 1
        return due

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write one slot."""
        self.ring.append(k, v)
        self.seen += 1
        return self.keys, self.values

    def step(self, q: Tensor, k: Tensor, v: Tensor, attend: Attention | None = None) -> Tensor:
        """Make one step of the ring, whatever attention is offered."""
        self.seen += 1
        return self.ring.step(q, k, v)

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Read the window, write a token."""
        return window * token, token


class Growing(Peer):
    """Every token for ever, in a new tensor at each step; held at W tokens to be measured.

    ``prepare`` cuts it back to the newest W - 1 once it is 1/64 longer than W: a step then makes
    it W tokens long, as it is when W tokens have been seen.
    """

    name, spare = "cat, growing", 1

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        super().__init__(keys, values)
        self._cut()

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Make longer tensors."""
        self.keys = torch.cat([self.keys, k], dim=2)
        self.values = torch.cat([self.values, v], dim=2)
        return self.keys, self.values

    def prepare(self) -> bool:
        """Cut back what has grown."""
        due = self.keys.shape[2] >= self.window + self.window // DRIFT
        if due:
            self._cut()
        return due

    def _cut(self) -> None:
        first = self.keys.shape[2] - self.window + 1
        self.keys = self.keys[:, :, first:].clone()  # of its own, as a cache that has grown is
        self.values = self.values[:, :, first:].clone()

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Read W - 1 tokens to copy them, W to attend, write W."""
        return (2 * window - 1) * token, window * token


class Sliced(Peer):
    """The last W tokens in a new tensor at each step."""

    name, spare = "cat, last W kept", 1

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Make new tensors without the oldest token."""
        self.keys = torch.cat([self.keys[:, :, 1:], k], dim=2)
        self.values = torch.cat([self.values[:, :, 1:], v], dim=2)
        return self.keys, self.values

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Read W - 1 tokens to copy them, W to attend, write W."""
        return (2 * window - 1) * token, window * token


class Rolled(Peer):
    """A static buffer that `torch.roll` moves on by one place."""

    name, spare = "roll of a static buffer", 0.5

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Roll into a new tensor, copy that back, write the last place."""
        for stored, new in ((self.keys, k), (self.values, v)):
            stored.copy_(stored.roll(-1, dims=2))
            stored[:, :, -1:] = new
        return self.keys, self.values

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Read W tokens to roll them, to copy them back and to attend; write W twice, and one."""
        return 3 * window * token, (2 * window + 1) * token


class Linear(Peer):
    """A buffer of 2 W places, written on; when it is full, the last W - 1 move to its front.

    A move every W + 1 steps is rarely met when single steps are timed, so ``move`` is timed apart
    and its share added to every step. ``prepare`` does the moves that fall due meanwhile.
    """

    name, holds = "2W linear buffer", 2

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.window = self.next = keys.shape[2]
        self.keys, self.values = torch.cat([keys, keys], dim=2), torch.cat([values, values], dim=2)

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write the next place, after a move where there is none."""
        self.prepare()
        self.keys[:, :, self.next : self.next + 1] = k
        self.values[:, :, self.next : self.next + 1] = v
        self.next += 1
        seen = slice(self.next - self.window, self.next)
        return self.keys[:, :, seen], self.values[:, :, seen]

    def prepare(self) -> bool:
        """Move what is due."""
        due = self.next == 2 * self.window
        if due:
            self.move()
        return due

    def fill(self) -> None:
        """Go to the end, over what the places hold: the next write moves."""
        self.next = 2 * self.window

    def move(self) -> None:
        """Move the last W - 1 tokens to the front."""
        for stored in (self.keys, self.values):
            stored[:, :, : self.window - 1] = stored[:, :, self.window + 1 :]
        self.next = self.window - 1

    @property
    def share(self) -> float:
        """How much of a move each step pays."""
        return 1 / (self.window + 1)

    @classmethod
    def moved(cls, window: int, token: int) -> tuple[int, int]:
        """Read the window, write a token, and a share of W - 1 tokens of each."""
        share = round((window - 1) / (window + 1) * token)
        return window * token + share, token + share
