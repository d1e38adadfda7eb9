"""Shorter ways where the host knows enough: one write, and a decode step in CPU memory.

A few MiB are read in some ten microseconds, and torch takes one to three for each operation it is
asked for. So where nothing is left to find out (all rows have one length, which the host knows,
and see every slot that holds something; nobody compiles), a token is written through NumPy's views
of the ring's own storage, and what it attends to needs no mask.
"""

from __future__ import annotations

from typing import Any

import torch

from . import torch_attention
from .quickest import Turns
from .torch_attention import Way, way_of
from .torch_bounds import Bounds, apart, hidden
from .torch_inputs import factor

__all__ = ["HostStep", "write_known"]

Tensor = torch.Tensor


def write_known(ring: Any, k: Tensor, v: Tensor) -> bool:
    """Write one token of every row, if the host knows where; say whether it did.

    On any device, and without the arithmetic of slots: ``k`` and ``v`` (batch, kv_heads, n, d).
    """
    position = ring._bounds.cursor
    if position is None or k.shape[2] > 1:
        return False
    slot = ring._bounds.slot_of(position)
    k, v = apart(k, ring.keys), apart(v, ring.keys, ring.values)  # not while they are written
    ring.keys.narrow(2, slot, 1).copy_(k)
    ring.values.narrow(2, slot, 1).copy_(v)
    ring.positions.select(1, slot).fill_(position)
    ring._seen.add_(1)
    return True


class HostStep:
    """Does the decode steps of one ring, as long as it may."""

    def __init__(self, ring: Any) -> None:
        self.tensors = ring.keys, ring.values, ring.positions, ring._seen
        self.at = [x.data_ptr() for x in self.tensors]
        self.keys, self.values = ring.keys.numpy(), ring.values.numpy()
        self.positions, self.seen = ring.positions.numpy(), ring._seen.numpy()
        self.bounds: Bounds = ring._bounds
        batch, self.kv_heads, _, self.head_dim = ring.keys.shape
        self.one = torch.Size((batch, self.kv_heads, 1, self.head_dim))
        self.dtype = ring.keys.dtype
        self.many = torch_attention.LEAST * ring.keys.shape[2] / max(1, ring.keys.nbytes)
        self.asked: tuple[int, ...] = ()
        self.way: Way
        self.turns: dict[Any, Turns] = {}

    @staticmethod
    def serves(ring: Any) -> bool:
        """Say whether a ring's storage is such that NumPy may do its steps."""
        wide = ring.keys.dtype in (torch.float32, torch.float64)
        return wide and type(ring.keys) is Tensor and ring.keys.is_cpu

    def may(self, q: Tensor, k: Tensor, v: Tensor) -> bool:
        """Say whether one more token of every row can be stepped here, the inputs being right."""
        if hidden(k) or self.bounds.cursor is None or self.bounds.bare(1) == 0:
            return False
        if torch.is_autocast_enabled("cpu"):
            return False
        if [x.data_ptr() for x in self.tensors] != self.at:  # moved, to be shared: views dangle
            return False
        one, given = self.one, q.shape
        if k.shape != one or v.shape != one or len(given) != 4 or given[1] % self.kv_heads:
            return False
        if given[0] != one[0] or given[1] == 0 or given[2] != 1 or given[3] != one[3]:
            return False
        return self._plain(q) and self._plain(k) and self._plain(v)

    def _plain(self, x: Tensor) -> bool:
        """Say whether NumPy can look at a tensor as it is, and finds what the ring stores."""
        right = x.dtype is self.dtype and x.is_cpu
        return right and not x.requires_grad and not x.is_neg()

    def step(self, q: Tensor, k: Tensor, v: Tensor, scale: float | None) -> Tensor | None:
        """Write one token of every row and let it attend, as ``TorchRing.step`` does.

        None, and nothing done, where that takes more than the host knows, or more checks.
        """
        if type(q) is not Tensor or type(k) is not Tensor or type(v) is not Tensor:
            return None
        if not self.may(q, k, v):
            return None
        return self._step(q, k, v, factor(scale, self.head_dim))

    def _step(self, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
        bounds, top, position = self.bounds, self.bounds.bare(1), self.bounds.cursor
        assert position is not None
        slot = bounds.slot_of(position)
        keys, values = self.tensors[:2]
        q, v = apart(q, keys, values), apart(v, keys)  # views of what is written here
        self.keys[:, :, slot] = k.numpy()[:, :, 0]
        self.values[:, :, slot] = v.numpy()[:, :, 0]
        self.positions[:, slot] = position
        self.seen.fill(position + 1)
        bounds.stored(1, True)
        rows = q.reshape(q.shape[0], self.kv_heads, -1, self.head_dim)
        if top < keys.shape[2]:
            keys, values = keys.narrow(2, 0, top), values.narrow(2, 0, top)
        out: Tensor = self._way(rows, keys)(rows, keys, values, None, scale)
        return out.view(q.shape)

    def _way(self, rows: Tensor, keys: Tensor) -> Way:
        """Give the way to such products: that of the last step, as a rule."""
        m = keys.shape[2]
        asked = rows.shape[2], m.bit_length(), m < self.many, torch.get_num_threads()
        if asked != self.asked:
            self.asked, self.way = asked, way_of(rows, keys, True, self.turns)
        return self.way
