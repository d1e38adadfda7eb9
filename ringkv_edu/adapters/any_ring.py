"""Rings of any class, a learner's included, behind the same door as a TorchRing.

What such a class needs is small. It is made by name from ``window``, ``kv_heads`` and ``head_dim``
(and ``batch``, ``sinks``, ``slack``, ``dtype``, ``device``, where it takes them), and has::

    append(k, v)       stores n >= 1 tokens
    keys, values       what is stored, in slot order
    positions          which token each slot holds, -1 where it holds none

either for one sequence, ``k`` and ``keys`` (kv_heads, n or slots, head_dim) and positions (slots,),
or for a batch with one more axis in front. Arrays may be NumPy's or torch's. One sequence: a batch
gets one ring for each row. Nothing is repaired here: a model sees what these three attributes say.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..torch_ring import TorchRing
from ..visibility import sees
from .stores import Native, Store, alike, fronted
from .surface import as_stored, check_maker, checked, emptied, method, names, read

__all__ = ["made_by"]

Tensor = torch.Tensor


def made_by(make: Any, k: Tensor, window: int, sinks: int, slack: int) -> Store:
    """Make the store for keys ``k`` (batch, kv_heads, n, head_dim) of one layer."""
    batch, kv_heads, _, head_dim = k.shape
    sizes: dict[str, Any] = {"window": window, "kv_heads": kv_heads, "head_dim": head_dim}
    wanted = sizes | {"sinks": sinks, "slack": slack, "device": k.device}
    takes = check_maker(make, sinks, slack)
    if "device" in takes:  # then it is torch that it speaks of
        wanted["dtype"] = k.dtype
    given = {name: size for name, size in wanted.items() if name in takes}

    def ring_of(rows: int) -> Any:
        more = {"batch": rows} if "batch" in takes else {}
        return checked(make(**given, **more), k.new_empty((rows, kv_heads, 0, head_dim)))

    first = ring_of(batch)
    if type(first) is TorchRing:
        return Native(first)
    if np.ndim(first.keys) == 4:
        return BatchRing(first, ring_of, k, window, sinks)
    return RowRings([first, *(ring_of(1) for _ in range(batch - 1))], ring_of, k, window, sinks)


class _AnyRing:
    """What both kinds share: the count of tokens given, and what the newest of them sees."""

    rings: list[Any]

    def __init__(self, k: Tensor, window: int, sinks: int) -> None:
        self.like, self.window, self.sinks = k[:, :, :0], window, sinks
        self.seen = torch.zeros(len(k), dtype=torch.int64, device=k.device)

    def newest(self, positions: Tensor) -> Tensor:
        """Say: every slot that holds a token, as its positions say.

        A window is not laid over them, or a ring that holds a token too many would be put right.
        Only where a ring says that it has ``slack`` must the rule choose.
        """
        if not getattr(self.rings[0], "slack", 0):
            return positions >= 0
        mask: Tensor = sees(self.seen[:, None] - 1, positions, self.window, self.sinks)
        return mask

    def bare(self, start: int, tokens: int) -> bool:
        """Say no: what such a ring holds is known once it has been asked."""
        return False

    def fits(self, k: Tensor) -> bool:
        """Say whether keys are such as these rings were made for."""
        return alike(self.like, k)

    def check_rewind(self, n: int | Tensor) -> None:
        """Check that the rings can take back at all; each says itself whether it still can."""
        for ring in self.rings:
            method(ring, "rewind", "taking tokens back")

    def _count(self, k: Tensor, real: Tensor | None) -> None:
        self.seen = self.seen + (k.shape[2] if real is None else real.sum(1))


class RowRings(_AnyRing):
    """One ring for each row, of a class that holds one sequence."""

    def __init__(
        self,
        rings: list[Any],
        make: Callable[[int], Any],
        k: Tensor,
        window: int,
        sinks: int,
    ) -> None:
        super().__init__(k, window, sinks)
        self.rings, self.make = rings, make

    @property
    def ring(self) -> list[Any]:
        """The rings, one for each row."""
        return self.rings

    def append(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        """Give each ring the real tokens of its row."""
        for row, ring in enumerate(self.rings):
            some = slice(None) if real is None else real[row]
            new_k, new_v = (as_stored(x[row][:, some], ring.keys) for x in (k, v))
            if new_k.shape[1]:
                ring.append(new_k, new_v)
        self._count(k, real)

    def held(self) -> tuple[Tensor, Tensor, Tensor]:
        """Give what the rings hold; a row that has fewer slots than another gets empty ones."""
        found = [read(ring, self.like) for ring in self.rings]
        most = max(len(positions) for *_, positions in found)
        rows = []
        for keys, values, positions in found:
            more = most - len(positions)
            pad = (0, 0, 0, more)
            longer = torch.nn.functional.pad
            rows.append(
                (longer(keys, pad), longer(values, pad), longer(positions, (0, more), value=-1))
                if more
                else (keys, values, positions)
            )
        if len(rows) == 1:  # nothing is copied
            keys, values, positions = rows[0]
            return keys[None], values[None], positions[None]
        keys, values, positions = (torch.stack(part) for part in zip(*rows, strict=True))
        return keys, values, positions

    def reset(self) -> None:
        """Forget every token: by each ring's own ``reset``, or with new rings."""
        self.rings = [emptied(ring, lambda: self.make(1)) for ring in self.rings]
        self.seen = torch.zeros_like(self.seen)

    def reorder(self, rows: Tensor) -> None:
        """Put a copy of row ``rows[i]`` at place i."""
        self.rings = [copy.deepcopy(self.rings[row]) for row in rows.tolist()]
        self.seen, self.like = self.seen[rows], self.like[rows]

    select = reorder

    def rewind(self, n: int | Tensor) -> None:
        """Take back the newest n tokens of every row, or of each."""
        each = n.tolist() if isinstance(n, Tensor) else [n] * len(self.rings)
        for ring, back in zip(self.rings, each, strict=True):
            ring.rewind(back)
        self.seen = self.seen - n


class BatchRing(_AnyRing):
    """One ring for all rows, of a class that holds a batch."""

    def __init__(
        self, ring: Any, make: Callable[[int], Any], k: Tensor, window: int, sinks: int
    ) -> None:
        super().__init__(k, window, sinks)
        self.rings, self.make = [ring], make

    @property
    def ring(self) -> Any:
        """The ring."""
        return self.rings[0]

    def append(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        """Store the tokens of ``real``, or all."""
        ring = self.ring
        if real is None:
            ring.append(*(as_stored(x, ring.keys) for x in (k, v)))
        elif "lengths" not in names(ring.append):
            raise ValueError(
                f"some rows of this batch are padded, and append of {type(ring).__name__} takes "
                f"no `lengths`; give rows of one length, or a class that holds one sequence"
            )
        else:
            new = (as_stored(fronted(x, real), ring.keys) for x in (k, v))
            ring.append(*new, lengths=real.sum(1))
        self._count(k, real)

    def held(self) -> tuple[Tensor, Tensor, Tensor]:
        """Give what the ring holds; positions (slots,) are those of every row."""
        keys, values, positions = read(self.ring, self.like)
        return keys, values, positions.expand(len(keys), -1)

    def reset(self) -> None:
        """Forget every token: by the ring's own ``reset``, or with a new ring."""
        self.rings = [emptied(self.ring, lambda: self.make(len(self.like)))]
        self.seen = torch.zeros_like(self.seen)

    def reorder(self, rows: Tensor) -> None:
        """Put a copy of row ``rows[i]`` at place i, by the ring's own ``reorder``."""
        method(self.ring, "reorder", "beam search")(rows)
        self.seen = self.seen[rows]

    def select(self, rows: Tensor) -> None:
        """Keep copies of some rows, by the ring's own ``select``."""
        self.rings = [method(self.ring, "select", "another number of rows")(rows)]
        self.seen, self.like = self.seen[rows], self.like[rows]

    def rewind(self, n: int | Tensor) -> None:
        """Take back the newest n tokens of every row, or of each."""
        self.ring.rewind(n)
        self.seen = self.seen - n
