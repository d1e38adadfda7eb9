"""Stage 3: the ring-buffer KV cache in torch, for a batch of rows, on CPU and CUDA.

Each row is a ring of its own: its cursor lives on the device beside its keys, so that a decode
step never asks the device for a number (no synchronisation) and makes nothing as large as the
keys or values. The same step can therefore be compiled (`torch.compile(fullgraph=True)`) and
captured in a CUDA graph (``ringkv_edu.capture``).

A worked example: window 4, two rows, the second with two tokens less::

    slot              0  1  2  3        next write
    positions[0]      8  9  6  7        slot 2 (position 10)
    positions[1]      4  5  6  7        slot 0 (position 8)

Source: the rolling buffer of Mistral 7B (arXiv 2310.06825); sinks from StreamingLLM
(arXiv 2309.17453); grouped queries (arXiv 2305.13245); S5, S8, S10, S31.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .inputs import count
from .ragged import compacted, spread
from .rewind import RewindError
from .torch_attention import one_query
from .torch_bounds import Bounds, apart, hidden, without_gradients
from .torch_chunk import chunk_attention
from .torch_host import HostStep, write_known
from .torch_inputs import (
    check_heads,
    check_rewind,
    check_rows,
    check_step,
    factor,
    zeros,
)
from .torch_state import RingView, from_state, joined, state_of, with_rows
from .visibility import sees

__all__ = ["RewindError", "TorchRing"]

Tensor = torch.Tensor


class TorchRing(RingView):
    """A KV cache of ``sinks + window + slack`` slots a row, for one layer and ``batch`` rows.

    ``window`` counts the query itself and leaves the sinks out; ``slack`` more slots make it
    possible to take back up to ``slack`` tokens once the ring is full. ``dtype`` is float16,
    bfloat16, float32 or float64; None means torch's default, as for ``device``. Positions are
    int64 whatever the dtype is. **There are no gradients**: what goes in is copied, what comes out
    is detached. Autocast changes nothing here.

    Wrong shapes, dtypes and devices always raise ``ValueError`` or ``TypeError`` and change
    nothing. Values that are not in CPU memory (lengths, rows, how far a row can be taken back) are
    checked with ``check=True`` only, since reading one makes the host wait; unchecked, a row is
    never taken back below 0, and what is no longer stored is missing from then on.

    Attributes, all written in place: ``keys`` and ``values`` (batch, kv_heads, slots, head_dim);
    ``positions`` (batch, slots) int64, -1 where a slot is empty; and ``window``, ``sinks``,
    ``slack``, ``slots``, ``check``.
    """

    def __init__(
        self,
        window: int,
        batch: int,
        kv_heads: int,
        head_dim: int,
        sinks: int = 0,
        slack: int = 0,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        check: bool = False,
    ) -> None:
        self.window = count("window", window, 1)
        self.sinks, self.slack = count("sinks", sinks, 0), count("slack", slack, 0)
        self._ring = self.window + self.slack
        self.slots, self.check = self.sinks + self._ring, bool(check)
        rows, heads = count("batch", batch, 1), count("kv_heads", kv_heads, 1)
        shape = (rows, heads, self.slots, count("head_dim", head_dim, 1))
        self.keys, self.values = zeros(shape, dtype, device), zeros(shape, dtype, device)
        where = self.keys.device
        with torch.inference_mode(False):
            self.positions = torch.full((rows, self.slots), -1, dtype=torch.int64, device=where)
            self._seen = torch.zeros(rows, dtype=torch.int64, device=where)
            first = torch.arange(rows * heads, device=where) * self.slots
            self._first = first.view(rows, heads, 1)  # slot 0 of each head, as a row of all slots
        self._bounds = Bounds(self.slots, self.sinks, self.slack)
        self._look()

    # The heart: write, mask, attend, step.

    def _store(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        known = self._known()
        if not (known and real is None and write_known(self, k, v)):
            self._write(k, v, real)
        if known:
            self._bounds.stored(k.shape[2], real is None)

    def _write(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        """Store n tokens a row, padded on the right: those of ``real`` (batch, n), or all."""
        n, ring = k.shape[2], self._ring
        if real is None and n > ring:  # only sinks and the last ones stay
            head, last = min(self.sinks, n - ring), [x[:, :, -ring:].clone() for x in (k, v)]
            self._write(k[:, :, :head], v[:, :, :head], None)
            self._seen += n - head - ring
            (k, v), n = last, ring
        for start in range(0, n, ring):  # so that no slot is written twice at once
            some = slice(start, start + ring)
            self._write_few(k[:, :, some], v[:, :, some], None if real is None else real[:, some])

    def _write_few(self, k: Tensor, v: Tensor, real: Tensor | None) -> None:
        n, d = k.shape[2:]
        positions = self._next(n)
        slots = self._slots(positions)
        rows = (self._first + slots.unsqueeze(1)).view(-1)
        keys, values = self.keys.view(-1, d), self.values.view(-1, d)
        k, v = k.reshape(-1, d).clone(), v.reshape(-1, d).clone()  # they may be views of the slots
        if real is not None:  # padding writes what is there already
            stays = real[:, None].expand(-1, self.keys.shape[1], -1).reshape(-1, 1)
            k, v = torch.where(stays, k, keys[rows]), torch.where(stays, v, values[rows])
            positions = torch.where(real, positions, self.positions.gather(1, slots))
        keys.index_copy_(0, rows, k)
        values.index_copy_(0, rows, v)
        self.positions.scatter_(1, slots, positions)
        self._seen += n if real is None else real.sum(1)

    def _next(self, n: int) -> Tensor:
        """Give the positions of the next n tokens: (batch, n)."""
        first = self._seen[:, None]
        return first if n == 1 else first + torch.arange(n, device=first.device)

    def _slots(self, positions: Tensor) -> Tensor:
        rolling = self.sinks + (positions - self.sinks) % self._ring
        return torch.where(positions < self.sinks, positions, rolling)

    def _one(self, q: Tensor, alive: Tensor | None, scale: float) -> Tensor:
        """Let the newest position of each row attend; rows that are not ``alive`` get zeros."""
        top, bare = self._bounds.near(self._hidden())
        held = self.positions[:, :top]
        mask = None if bare else sees(self._seen[:, None] - 1, held, self.window, self.sinks)
        out = one_query(q, self.keys[:, :, :top], self.values[:, :, :top], mask, scale)
        return out if alive is None else torch.where(alive[:, None, None, None], out, 0)

    def _chunk(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor | None, scale: float) -> Tensor:
        """Let several tokens attend to the ring as it was and to the chunk beside it."""
        queries = self._next(q.shape[2])
        top = self.slots if self._hidden() else self._bounds.top
        old = self.positions[:, :top], self.keys[:, :, :top], self.values[:, :, :top]
        new = queries if real is None else torch.where(real, queries, -1), k, v
        return chunk_attention(q, queries, old, new, self.window, self.sinks, scale)

    @without_gradients
    def append(self, k: Tensor, v: Tensor, lengths: Any = None, padding: str = "right") -> None:
        """Store n tokens a row: ``k`` and ``v`` (batch, kv_heads, n, head_dim), n >= 1.

        ``lengths`` (batch,), each 0..n, says how many tokens of a row are real; the others are
        padding, on the ``padding`` side, and may hold anything.
        """
        lengths = check_step(k, v, lengths, padding, self)
        (k, v), real = compacted((k, v), lengths, padding)
        self._store(k, v, real)

    def step(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        lengths: Any = None,
        padding: str = "right",
        scale: float | None = None,
    ) -> Tensor:
        """Store n tokens a row and give what each of their queries sees.

        ``q`` (batch, heads, n, head_dim), ``heads`` a multiple of kv_heads; ``k``, ``v``,
        ``lengths`` and ``padding`` as for ``append``; the result has the shape of ``q``, with
        zeros for padding. ``scale`` multiplies the scores, head_dim ** -0.5 by default.

        One token is written first: the slot it takes is the key that has just left its window.
        Several attend first, because a later one would overwrite a key that an earlier one sees.
        """
        host = self._host if lengths is None and padding == "right" else None
        if host and (done := host.step(q, k, v, scale)) is not None:
            return done
        return self._stepped(q, k, v, lengths, padding, scale)

    @without_gradients
    def _stepped(
        self, q: Tensor, k: Tensor, v: Tensor, lengths: Any, padding: str, scale: float | None
    ) -> Tensor:
        lengths, by = check_step(k, v, lengths, padding, self, q), factor(scale, k.shape[3])
        (q, k, v), real = compacted((q, k, v), lengths, padding)
        if k.shape[2] == 1:
            q = apart(q, self.keys, self.values)  # which are written now
            self._store(k, v, real)
            return self._one(q, None if real is None else real[:, 0], by)
        out = self._chunk(q, k, v, real, by)
        self._store(k, v, real)
        return out if lengths is None else spread(out, lengths, padding)

    @without_gradients
    def attend(self, q: Tensor, scale: float | None = None) -> Tensor:
        """Give what a query at the newest position of each row sees.

        ``q`` and the result (batch, heads, 1, head_dim); zeros for a row that holds nothing.
        """
        check_heads(q, self.keys, 1)
        sure = not self._hidden() and self._bounds.bare() > 0
        return self._one(q, None if sure else self.size > 0, factor(scale, q.shape[3]))

    # Taking back, starting again.

    @without_gradients
    def rewind(self, n: Any) -> None:
        """Take back the newest ``n`` tokens, of every row or of each: a number or (batch,).

        Raises ``RewindError``, and changes nothing, when a sink or one of the last ``window``
        positions of a shorter row is no longer stored. Where that is not checked (see the class),
        the mask stays right for what is stored.
        """
        length = check_rewind(n, self)
        gone = self.positions >= length[:, None]
        self.keys.masked_fill_(gone[:, None, :, None], 0)
        self.values.masked_fill_(gone[:, None, :, None], 0)
        self.positions.masked_fill_(gone, -1)
        self._seen.copy_(length)
        if self._known():
            self._bounds.taken_back(n if isinstance(n, int) else None)

    @without_gradients
    def reset(self, rows: Any = None) -> None:
        """Forget every token, or those of some rows; the storage stays where it is."""
        chosen = None if rows is None else check_rows(rows, self.keys, self.check)
        for x, empty in ((self.keys, 0), (self.values, 0), (self.positions, -1), (self._seen, 0)):
            if chosen is None:
                x.fill_(empty)
            else:
                x.index_fill_(0, chosen, empty)
        if self._known():
            self._bounds.emptied(chosen is None)

    def _look(self) -> None:
        """Note where the storage lies, and look at it with NumPy where that may do the steps."""
        self._at = self.keys.data_ptr()
        self._host = HostStep(self) if HostStep.serves(self) else None

    def _hidden(self) -> bool:
        """Say whether others may change the rows: see `hidden`.

        Other processes may, once the storage has moved to be shared with them.
        """
        return hidden(self.keys) or self.keys.data_ptr() != self._at

    def _known(self) -> bool:
        """Say whether the host can follow what happens now; once it could not, it never can."""
        if self._hidden():
            self._bounds.lose()
            return False
        return self._bounds.known

    # Rows: another order, some of them, several rings in one; keeping.

    @without_gradients
    def reorder(self, rows: Any) -> None:
        """Put a copy of row ``rows[i]`` at place i, in place: ``rows`` (batch,)."""
        chosen = check_rows(rows, self.keys, self.check)
        if len(chosen) != len(self._seen):
            raise ValueError(
                f"rows has {len(chosen)} numbers and the ring {len(self._seen)} rows; "
                f"give one for each, or use select()"
            )
        for x in (self.keys, self.values, self.positions, self._seen):
            x.copy_(x.index_select(0, chosen))

    def select(self, rows: Any) -> TorchRing:
        """Give a new ring with copies of some rows, in the order given; repeats are allowed."""
        ring: TorchRing = with_rows(self, check_rows(rows, self.keys, self.check))
        return ring

    @classmethod
    def stack(cls, rings: Iterable[TorchRing]) -> TorchRing:
        """Give a new ring that has the rows of several alike ones, one after the other."""
        ring: TorchRing = joined(rings, cls)
        return ring

    def state_dict(self) -> dict[str, Any]:
        """Give a copy of everything a ring is, as whole numbers and tensors."""
        return state_of(self)

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], device: torch.device | str | None = None
    ) -> TorchRing:
        """Make a ring from a copy of a state, on ``device`` or where the state's keys are.

        Raises ``ValueError`` or ``TypeError`` for a state that no ring has; its positions are
        always looked at.
        """
        ring: TorchRing = from_state(cls, state, device)
        return ring
