"""Stage 4 in torch: a batch of rings whose leaving tokens are folded into summaries.

The ring is a ``TorchRing``; beside it lies the bank, a fixed number of summaries a row. Which
tokens a summary has follows from whole numbers that the host counts along
(``ringkv_edu.summaries``); a step is then a few products. Rows may have different lengths; lengths
that lie on an accelerator are read, and the host waits for them.

With ``slack`` a token that has left the window stays in the ring for a while. A query sees it in a
summary made for this query alone; the bank gets it when it leaves the ring. So up to ``slack``
tokens can be taken back, and nothing ever has to be taken out of a mean.

Source: S24, S33; the law and a worked example are in ``ringkv_edu.summaries``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .ragged import compacted, real_tokens, spread
from .rope import rotate
from .summaries import Counts, Fold, Merge, folded
from .torch_bounds import without_gradients
from .torch_fold import Ask, Means, means_of, turned_back, turned_to
from .torch_inputs import check_heads, check_rows, check_step, factor, zeros
from .torch_joint import Part, joint_attention
from .torch_ring import RewindError, TorchRing
from .torch_summary_state import SummaryView, from_summary_state, joined, state_of, with_rows
from .visibility import sees

__all__ = ["RewindError", "TorchSummaryRing"]

Tensor = torch.Tensor
BLOCK = 128  # tokens of a chunk that are planned together


class TorchSummaryRing(SummaryView):
    """Rings of ``sinks + window + slack`` slots and ``summaries`` means, for ``batch`` rows.

    Keys come as a ring's keys do: turned to their positions already, if they are to be turned at
    all. ``base`` None: means are taken of keys as they come. With the ``base`` that they were
    turned by, each is turned back, the mean is taken, and turned to the centre of its block.

    Attributes: those of ``TorchRing``, and ``counts`` (batch, summaries) int64, 0 where there is
    none yet; ``centres`` (batch, summaries), the mean position of the members, NaN where there are
    none; ``summary_keys`` and ``summary_values`` (batch, kv_heads, summaries, head_dim), float32
    at least whatever the ring's dtype is: a running mean in float16 freezes after 2,048 tokens.
    ``sink`` (heads,), None at first: a learned logit that takes part in every softmax and gives no
    value.
    """

    def __init__(
        self,
        window: int,
        batch: int,
        kv_heads: int,
        head_dim: int,
        summaries: int = 8,
        block: int = 4,
        merge: Merge = "oldest",
        sinks: int = 0,
        slack: int = 0,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        check: bool = False,
        base: float | None = None,
    ) -> None:
        self.ring = TorchRing(window, batch, kv_heads, head_dim, sinks, slack, dtype, device, check)
        self.how, self.base = Fold(summaries, block, merge).checked(), base
        self.sink: Tensor | None = None
        if base is not None:
            rotate(torch.zeros(1, head_dim), [0], base)  # raises for what cannot be turned
        keys = self.ring.keys
        wide = torch.promote_types(keys.dtype, torch.float32)
        shape = (batch, kv_heads, self.how.slots, head_dim)
        self.summary_keys = zeros(shape, wide, keys.device)
        self.summary_values = zeros(shape, wide, keys.device)
        self._counts: list[Counts] = [()] * batch
        self._lengths = [0] * batch

    # The heart: fold, attend, step.

    def _asks(self, lengths: list[int], attending: bool) -> tuple[Ask, ...]:
        """Say what each row asks of a plan; one answer where all rows ask the same."""
        ring, asks = self.ring, []
        for counts, length, new in zip(self._counts, self._lengths, lengths, strict=True):
            done = sum(counts)
            first = length + 1 - ring.window - ring.sinks - done
            keep = max(0, folded(length + new, ring.window + ring.slack, ring.sinks) - done)
            asks.append(Ask(counts, first, new, keep) if attending else Ask(counts, 0, 0, keep))
        return tuple(asks[:1]) if len(set(asks)) == 1 else tuple(asks)

    def _plan(self, asks: tuple[Ask, ...], n: int) -> Means:
        return means_of(asks, self.how, n, self.summary_keys.dtype, self.keys.device)

    def _sources(self, table: Means, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Give what means are taken of, keys and values: the bank, then tokens that have left.

        Each (batch, kv_heads, summaries + tokens, head_dim). A token lies in the ring, or in a
        chunk longer than the window.
        """
        ring, device = self.ring, self.keys.device
        done = torch.tensor([self.sinks + sum(c) for c in self._counts], device=device)
        positions = done[:, None] + torch.arange(table.tokens, device=device)
        slots, long = ring._slots(positions), k.shape[2] > ring.window
        if long:
            new = (positions - ring._seen[:, None]).clamp(max=k.shape[2] - 1)
            slots = torch.where(new < 0, slots, ring.slots + new)
        index = slots[:, None, :, None].expand(-1, self.keys.shape[1], -1, self.keys.shape[3])
        some = []
        for held, chunk in ((ring.keys, k), (ring.values, v)):
            tokens = (torch.cat([held, chunk], 2) if long else held).gather(2, index)
            some.append(tokens.to(self.summary_keys.dtype))
        some[0] = turned_back(some[0], positions, self.base)
        banks = self.summary_keys, self.summary_values
        keys, values = (torch.cat(both, 2) for both in zip(banks, some, strict=True))
        return keys, values

    def _fold(self, table: Means, k: Tensor, v: Tensor) -> tuple[Part, list[Tensor]]:
        """Give what queries see of the summaries, and what the bank becomes."""
        share = table.weights[:, None]  # in float32 a thousand shares that do not add up to 1 show
        means = [(share @ x.double()).to(x.dtype) for x in self._sources(table, k, v)]
        keys = turned_to(means[0], self.sinks + table.centres, self.base)
        return Part(keys, means[1], table.extra), self._kept(table, means)

    def _kept(self, table: Means, means: list[Tensor]) -> list[Tensor]:
        """Give what the bank becomes: some of the means, 0 where there is no summary."""
        bank = [getattr(self, name) for name in self.banks]
        if not means[0].shape[2]:
            return bank
        index, stay = table.kept[:, None, :, None], table.stay[:, None, :, None]
        return [
            torch.where(stay, x.gather(2, index.expand_as(old)), 0)
            for x, old in zip(means, bank, strict=True)
        ]

    def _settle(self, table: Means, bank: list[Tensor], lengths: list[int]) -> None:
        for name, x in zip(self.banks, bank, strict=True):
            getattr(self, name).copy_(x)
        rows = len(self._counts)
        self._counts = list(table.after * rows if len(table.after) == 1 else table.after)
        self._lengths = [a + b for a, b in zip(self._lengths, lengths, strict=True)]

    def _exact(self, queries: Tensor, positions: Tensor, keys: Tensor, values: Tensor) -> Part:
        seen = sees(queries[:, :, None], positions[:, None], self.window, self.sinks)
        return Part(keys, values, seen, at=positions)

    def _few(
        self, q: Tensor | None, k: Tensor, v: Tensor, lengths: list[int], ragged: bool, scale: float
    ) -> Tensor:
        """Let n tokens a row attend to ring, chunk and summaries, then store them."""
        ring, n = self.ring, k.shape[2]
        table = self._plan(self._asks(lengths, q is not None), n if q is not None else 0)
        means, bank = self._fold(table, k, v)
        real = torch.tensor(lengths, device=k.device) if ragged else None
        if q is not None and n == 1 and not ragged:  # it takes the slot of the key that left
            ring.append(k, v)
            out = self._newest(q, means, scale)
        else:
            out = k if q is None else self._several(q, k, v, real, means, scale)
            ring.append(k, v, real)
        self._settle(table, bank, lengths)
        return out

    def _newest(self, q: Tensor, means: Part, scale: float) -> Tensor:
        ring = self.ring
        top, bare = ring._bounds.near(ring._hidden())
        at = ring.positions[:, :top]
        held = Part(ring.keys[:, :, :top], ring.values[:, :, :top], at=at)
        if not bare:
            newest = ring._seen[:, None] - 1
            held = self._exact(newest, at, held.keys, held.values)
        return self._attention(q, [held, means], scale)

    def _several(
        self, q: Tensor, k: Tensor, v: Tensor, real: Tensor | None, means: Part, scale: float
    ) -> Tensor:
        ring = self.ring
        queries = ring._next(k.shape[2]).expand(len(k), -1)
        new = queries if real is None else torch.where(real_tokens(real, k.shape[2]), queries, -1)
        parts = [
            self._exact(queries, ring.positions, ring.keys, ring.values),
            self._exact(queries, new, k, v),
        ]
        return self._attention(q, [*parts, means], scale)

    def _attention(self, q: Tensor, parts: list[Part], scale: float) -> Tensor:
        return joint_attention(q, parts, scale, self.sink)[0]

    @without_gradients
    def append(self, k: Tensor, v: Tensor, lengths: Any = None, padding: str = "right") -> None:
        """Store n tokens a row: see ``TorchRing.append``."""
        given = check_step(k, v, lengths, padding, self.ring)
        (k, v), _ = compacted((k, v), given, padding)
        self._blocks(None, k, v, given, 1.0)

    @without_gradients
    def step(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        lengths: Any = None,
        padding: str = "right",
        scale: float | None = None,
    ) -> Tensor:
        """Store n tokens a row and give what each of their queries sees, summaries included.

        Shapes, ``lengths`` and ``padding`` as for ``TorchRing.step``. A chunk gives what one token
        at a time gives.
        """
        given = check_step(k, v, lengths, padding, self.ring, q)
        by = factor(scale, k.shape[3])
        (q, k, v), _ = compacted((q, k, v), given, padding)
        out = self._blocks(q, k, v, given, by)
        return out if given is None else spread(out, given, padding)

    def _blocks(
        self, q: Tensor | None, k: Tensor, v: Tensor, given: Tensor | None, scale: float
    ) -> Tensor:
        n, out = k.shape[2], []
        each = [n] * len(k) if given is None else given.tolist()
        for at in range(0, n, BLOCK):
            some = slice(at, at + BLOCK)
            size = min(BLOCK, n - at)
            lengths = [min(max(length - at, 0), size) for length in each]
            part = None if q is None else q[:, :, some]
            ragged = given is not None
            out.append(self._few(part, k[:, :, some], v[:, :, some], lengths, ragged, scale))
        return out[0] if q is None or len(out) == 1 else torch.cat(out, 2)

    @without_gradients
    def attend(self, q: Tensor, scale: float | None = None) -> Tensor:
        """Give what a query at the newest position of each row sees.

        ``q`` and the result (batch, heads, 1, head_dim); zeros for a row that holds nothing.
        """
        check_heads(q, self.keys, 1)
        by, none = factor(scale, q.shape[3]), self.keys[:, :, :0]
        asks = []
        for counts, length in zip(self._counts, self._lengths, strict=True):
            first = folded(length, self.window, self.sinks) - sum(counts)
            asks.append(Ask(counts, max(0, first), min(length, 1), 0))
        means, _ = self._fold(self._plan(tuple(asks), 1), none, none)
        held = self._exact(self.ring._seen[:, None] - 1, self.positions, self.keys, self.values)
        return self._attention(q, [held, means], by)

    # Taking back, starting again.

    @without_gradients
    def rewind(self, n: Any) -> None:
        """Take back the newest ``n`` tokens, of every row or of each: a number or (batch,).

        Raises ``RewindError``, and changes nothing, when a ring cannot, or when a token of the
        shorter text's window has been folded for good: a mean cannot be taken apart. ``slack``
        tokens can be taken back, counted from the longest that the text has been. The
        host waits for the lengths that remain.
        """
        self.ring.rewind(n)
        self._lengths = self.ring.seen.tolist()
        self._forget(row for row, length in enumerate(self._lengths) if length <= self.sinks)

    @without_gradients
    def reset(self, rows: Any = None) -> None:
        """Forget every token and every summary, or those of some rows."""
        chosen = None if rows is None else check_rows(rows, self.keys, self.ring.check)
        self.ring.reset(chosen)
        emptied = range(len(self._counts)) if chosen is None else chosen.tolist()
        for row in emptied:
            self._lengths[row] = 0
        self._forget(emptied)

    def _forget(self, rows: Iterable[int]) -> None:
        """Empty the bank of some rows."""
        for row in rows:
            self._counts[row] = ()
            for name in self.banks:
                getattr(self, name)[row] = 0

    # Rows: another order, some of them, several rings in one; keeping.

    @without_gradients
    def reorder(self, rows: Any) -> None:
        """Put a copy of row ``rows[i]`` at place i, in place: ``rows`` (batch,)."""
        chosen = check_rows(rows, self.keys, self.ring.check)
        self.ring.reorder(chosen)
        for x in (getattr(self, name) for name in self.banks):
            x.copy_(x.index_select(0, chosen))
        order = chosen.tolist()
        self._counts = [self._counts[row] for row in order]
        self._lengths = [self._lengths[row] for row in order]

    def select(self, rows: Any) -> TorchSummaryRing:
        """Give a new ring with copies of some rows, in the order given; repeats are allowed."""
        ring: TorchSummaryRing = with_rows(self, check_rows(rows, self.keys, self.ring.check))
        return ring

    @classmethod
    def stack(cls, rings: Iterable[TorchSummaryRing]) -> TorchSummaryRing:
        """Give a new ring that has the rows of several alike ones, one after the other."""
        ring: TorchSummaryRing = joined(rings, cls)
        return ring

    def state_dict(self) -> dict[str, Any]:
        """Give a copy of everything a ring is, as plain values and tensors."""
        return state_of(self)

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], device: torch.device | str | None = None
    ) -> TorchSummaryRing:
        """Make a ring from a copy of a state; raises ``ValueError`` for one that no ring has."""
        ring: TorchSummaryRing = from_summary_state(cls, state, device)
        return ring
