"""What a summary ring in torch tells of itself; copies of its rows; its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .summaries import Counts, Fold, check_counts, folded, spans
from .torch_inputs import check_alike
from .torch_ring import TorchRing

__all__ = ["SummaryView", "from_summary_state", "joined", "state_of", "with_rows"]

Tensor = torch.Tensor
OWN = ("summaries", "block", "merge", "base")


class SummaryView:
    """What a summary ring tells of itself: that of its ring, and the bank.

    ``banks`` are the tensors it keeps for each summary, (batch, kv_heads, summaries, any);
    ``given`` what it was handed to attend with, which is no part of its state.
    """

    banks: tuple[str, ...] = ("summary_keys", "summary_values")
    given: tuple[str, ...] = ("sink",)
    ring: TorchRing
    how: Fold
    base: float | None
    summary_keys: Tensor
    summary_values: Tensor
    _counts: list[Counts]
    _lengths: list[int]

    keys = property(lambda self: self.ring.keys)
    values = property(lambda self: self.ring.values)
    positions = property(lambda self: self.ring.positions)
    window = property(lambda self: self.ring.window)
    sinks = property(lambda self: self.ring.sinks)
    slack = property(lambda self: self.ring.slack)
    slots = property(lambda self: self.ring.slots)
    seen = property(lambda self: self.ring.seen)
    size = property(lambda self: self.ring.size)
    summaries = property(lambda self: self.how.slots)
    block = property(lambda self: self.how.block)
    merge = property(lambda self: self.how.merge)

    @property
    def counts(self) -> Tensor:
        """How many tokens each summary stands for, oldest first: (batch, summaries), 0 for none."""
        out = torch.zeros(len(self._counts), self.how.slots, dtype=torch.int64)
        for row, counts in enumerate(self._counts):
            out[row, : len(counts)] = torch.tensor(counts, dtype=torch.int64)
        return out.to(self.keys.device)

    @property
    def centres(self) -> Tensor:
        """The mean position of each summary's members: (batch, summaries), NaN for none."""
        wide = self.summary_keys.dtype
        out = torch.full((len(self._counts), self.how.slots), torch.nan, dtype=wide)
        for row, counts in enumerate(self._counts):
            found = [(span[0] + span[-1]) / 2 for span in spans(counts, self.ring.sinks)]
            out[row, : len(found)] = torch.tensor(found, dtype=wide)
        return out.to(self.keys.device)

    @property
    def nbytes(self) -> int:
        """Bytes of the ring's keys and values and of the bank; each position takes 8 more."""
        bank: int = sum(getattr(self, name).nbytes for name in self.banks)
        return self.ring.nbytes + bank

    def __repr__(self) -> str:
        inner = repr(self.ring).removeprefix("<TorchRing ").removesuffix(">")
        how = f"summaries={self.how.slots}, block={self.how.block}, merge={self.how.merge!r}"
        return f"<{type(self).__name__} {inner}, {how}>"


def state_of(ring: Any) -> dict[str, Any]:
    """Give a copy of everything a summary ring is."""
    own = {name: getattr(ring, name) for name in OWN}
    banks = {name: getattr(ring, name).clone() for name in ring.banks}
    return own | banks | {"counts": ring.counts, "ring": ring.ring.state_dict()}


def from_summary_state(cls: Any, state: Any, device: Any) -> Any:
    """Make a summary ring from a copy of a state."""
    if not isinstance(state, Mapping):
        raise TypeError(f"the state is a {type(state).__name__}; give a state_dict()")
    missing = {*OWN, *cls.banks, "counts", "ring"} - set(state)
    if missing:
        raise ValueError(f"the state lacks {', '.join(sorted(missing))}; give a state_dict()")
    inner = TorchRing.from_state_dict(state["ring"], device)
    made = _around(cls, inner, {name: state[name] for name in OWN})
    made._lengths, given = inner.seen.tolist(), state["counts"]
    if not isinstance(given, Tensor) or given.ndim != 2 or len(given) != len(made._lengths):
        what = tuple(given.shape) if isinstance(given, Tensor) else repr(given)
        raise ValueError(f"counts are {what}; give a tensor (batch, summaries)")
    for row, (counts, length) in enumerate(zip(given.tolist(), made._lengths, strict=True)):
        done = folded(length, inner.window + inner.slack, inner.sinks)
        made._counts[row] = check_counts(counts, made.how, done, done + inner.slack)
    for name in cls.banks:
        own, given = getattr(made, name), state[name]
        if not isinstance(given, Tensor) or given.shape != own.shape or given.dtype != own.dtype:
            what = f"{given.dtype} {tuple(given.shape)}" if isinstance(given, Tensor) else given
            raise ValueError(
                f"{name} are {what}; these sizes make them {own.dtype} {tuple(own.shape)}. "
                f"Give a state_dict() as it is"
            )
        own.copy_(given)
    return made


def with_rows(ring: Any, rows: Tensor) -> Any:
    """Make a summary ring with copies of some rows."""
    made = _around(type(ring), ring.ring.select(rows), {name: getattr(ring, name) for name in OWN})
    for name in ring.banks:
        getattr(made, name).copy_(getattr(ring, name).index_select(0, rows))
    _handed(ring, made)
    made._counts = [ring._counts[row] for row in rows.tolist()]
    made._lengths = [ring._lengths[row] for row in rows.tolist()]
    return made


def joined(rings: Iterable[Any], cls: Any) -> Any:
    """Make a summary ring with the rows of several alike ones."""
    listed = list(rings)
    strange = next((r for r in listed if not isinstance(r, cls)), None)
    if not listed or strange is not None:
        given = "nothing" if strange is None else f"a {type(strange).__name__}"
        raise TypeError(f"stack was given {given}; give one {cls.__name__} or more")
    check_alike([{name: getattr(r, name) for name in OWN} for r in listed])
    inner = TorchRing.stack([r.ring for r in listed])
    made = _around(cls, inner, {name: getattr(listed[0], name) for name in OWN})
    for name in cls.banks:
        getattr(made, name).copy_(torch.cat([getattr(r, name) for r in listed]))
    _handed(listed[0], made)
    made._counts = [counts for r in listed for counts in r._counts]
    made._lengths = [length for r in listed for length in r._lengths]
    return made


def _handed(ring: Any, made: Any) -> None:
    for name in ring.given:
        setattr(made, name, getattr(ring, name))


def _around(cls: Any, inner: TorchRing, own: Mapping[str, Any]) -> Any:
    """Make a summary ring, empty but for the ring that it stands around."""
    batch, kv_heads, _, head_dim = inner.keys.shape
    sizes = {name: getattr(inner, name) for name in ("window", "sinks", "slack", "check")}
    where = {"dtype": inner.keys.dtype, "device": inner.keys.device}
    made = cls(batch=batch, kv_heads=kv_heads, head_dim=head_dim, **sizes, **where, **own)
    made.ring = inner
    return made
