"""Stage 4 in NumPy: a ring whose leaving tokens are folded into summaries.

The ring is a ``NumpyRing``; beside it lies the bank, a fixed number of summaries. Which tokens a
summary has is known before any number is read (``ringkv_edu.summaries.plan``), so the work here is
three products: means of what is folded, scores against exact keys and against means, and one
softmax over both.

With ``slack`` a token that has left the window stays in the ring for a while. A query sees it in a
summary made for this query alone; the bank gets it when it leaves the ring. So up to ``slack``
tokens can be taken back, and nothing ever has to be taken out of a mean.

Source: S24, S33; the law and the worked example are in ``ringkv_edu.summaries``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import check_heads, check_tokens, factor, zeros
from .numpy_joint import Part, joint_attention
from .numpy_ring import NumpyRing
from .rewind import RewindError
from .rope import rotate
from .summaries import Counts, Fold, Merge, Plan, check_counts, folded, plan, spans
from .visibility import sees, slots_of

__all__ = ["NumpySummaryRing", "RewindError"]

Array = npt.NDArray[Any]
BLOCK = 128  # tokens of a chunk that are planned together
SIZES = ("window", "sinks", "slack", "summaries", "block", "merge", "base")


class NumpySummaryRing:
    """A ring of ``sinks + window + slack`` slots and ``summaries`` means, for one sequence.

    Keys come as a ring's keys do: turned to their positions already, if they are to be turned at
    all. ``base`` None: means are taken of keys as they come. With the ``base`` that they were
    turned by, each is turned back, the mean is taken, and turned to the centre of its block.

    Attributes: those of ``NumpyRing``, and ``counts`` (summaries,) int64, 0 where there is none
    yet; ``centres`` (summaries,), the mean position of the members, NaN where there are none;
    ``summary_keys`` and ``summary_values`` (kv_heads, summaries, head_dim), float32 at least
    whatever the ring's dtype is: a running mean in float16 freezes after 2,048 tokens.
    """

    def __init__(
        self,
        window: int,
        kv_heads: int,
        head_dim: int,
        summaries: int = 8,
        block: int = 4,
        merge: Merge = "oldest",
        sinks: int = 0,
        slack: int = 0,
        dtype: npt.DTypeLike = np.float32,
        base: float | None = None,
    ) -> None:
        self.ring = NumpyRing(window, kv_heads, head_dim, sinks, slack, dtype)
        self.how, self.base = Fold(summaries, block, merge).checked(), base
        if base is not None:
            rotate(np.zeros((1, head_dim)), [0], base)  # raises for what cannot be turned
        wide = np.result_type(self.ring.keys.dtype, np.float32)
        shape = (2, kv_heads, self.how.slots, head_dim)
        self.summary_keys, self.summary_values = zeros(shape, wide)
        self._counts: Counts = ()

    # The heart: fold, attend, step.

    def _sources(self, old: Counts, first: int, k: Array, v: Array, table: Plan) -> list[Array]:
        """Give keys and values to take means of: the summaries, then tokens from ``first`` on."""
        tokens = table.parts.shape[1] - len(old)
        positions = first + np.arange(tokens)
        stored = positions < self.seen
        slots = slots_of(positions[stored], self.window + self.slack, self.sinks)
        sources = []
        for bank, ring, new in (
            (self.summary_keys, self.ring.keys, k), (self.summary_values, self.ring.values, v),
        ):  # fmt: skip
            some = [ring[:, slots], new[:, positions[~stored] - self.seen]]
            sources.append(np.concatenate([bank[:, : len(old)], *some], 1, dtype=bank.dtype))
        if self.base is not None and tokens:
            sources[0][:, len(old) :] = rotate(sources[0][:, len(old) :], -positions, self.base)
        return sources

    def _means(self, first: int, n: int, keep: int, k: Array, v: Array) -> tuple[Part, Any]:
        """Give what n queries see of the summaries, and what the bank becomes."""
        old = self._counts
        table = plan(old, self.how, first, n, keep)
        sources = self._sources(old, self.sinks + sum(old), k, v, table)
        # float64: in float32 a thousand shares that do not add up to 1 show.
        keys, values = ((table.weights @ x).astype(x.dtype) for x in sources)
        bank = (keys[:, table.kept], values[:, table.kept], table.after)
        if self.base is not None and len(table.counts):
            keys = rotate(keys, self.sinks + table.starts + (table.counts - 1) / 2, self.base)
        extra = np.where(table.seen, np.log(table.counts), -np.inf)
        return Part(keys, values, extra), bank

    def _settle(self, bank: tuple[Array, Array, Counts]) -> None:
        keys, values, self._counts = bank
        self.summary_keys[:, : len(self._counts)] = keys
        self.summary_values[:, : len(self._counts)] = values

    def _exact(self, queries: Array, positions: Array, keys: Array, values: Array) -> Part:
        seen = sees(queries[:, None], positions, self.window, self.sinks)
        return Part(keys, values, np.where(seen, 0.0, -np.inf))

    def _few(self, q: Array | None, k: Array, v: Array, scale: float) -> Array:
        """Let n tokens attend to ring, chunk and summaries, then store them."""
        n, ring, done = k.shape[1], self.ring, sum(self._counts)
        first = self.seen + 1 - self.window - self.sinks - done
        keep = max(0, folded(self.seen + n, self.window + self.slack, self.sinks) - done)
        means, bank = self._means(first, 0 if q is None else n, keep, k, v)
        out = k
        if q is not None:
            queries = self.seen + np.arange(n)
            parts = [
                self._exact(queries, ring.positions, ring.keys, ring.values),
                self._exact(queries, queries, k, v),
            ]
            out = joint_attention(q, [*parts, means], scale)
        ring.append(k, v)
        self._settle(bank)
        return out

    def append(self, k: Array, v: Array) -> None:
        """Store n tokens: ``k`` and ``v`` (kv_heads, n, head_dim), n >= 1, in the ring's dtype."""
        k, v = check_tokens(k, v, self.keys)
        for at in range(0, k.shape[1], BLOCK):
            self._few(None, k[:, at : at + BLOCK], v[:, at : at + BLOCK], 1.0)

    def step(self, q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
        """Store n tokens and give what each of their queries sees, summaries included.

        ``q`` (heads, n, head_dim), ``heads`` a multiple of kv_heads; ``k`` and ``v``
        (kv_heads, n, head_dim); the result has the shape of ``q``. A chunk gives what one token at
        a time gives.
        """
        k, v = check_tokens(k, v, self.keys)
        q, by = check_heads(q, self.keys, k.shape[1]), factor(scale, self.keys)
        cuts = [slice(at, at + BLOCK) for at in range(0, k.shape[1], BLOCK)]
        return np.concatenate([self._few(q[:, c], k[:, c], v[:, c], by) for c in cuts], axis=1)

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Give what a query at the newest position sees: ``q`` and the result (heads, head_dim).

        Zeros when nothing is stored.
        """
        q, by = check_heads(q, self.keys), factor(scale, self.keys)
        if not self.seen:
            return np.zeros_like(q)
        ring, newest = self.ring, np.array([self.seen - 1])
        first = folded(self.seen, self.window, self.sinks) - sum(self._counts)
        none = ring.keys[:, :0]
        means, _ = self._means(first, 1, 0, none, none)
        exact = self._exact(newest, ring.positions, ring.keys, ring.values)
        return joint_attention(q[:, None], [exact, means], by)[:, 0]

    # Taking back, starting again, keeping.

    def rewind(self, n: int) -> None:
        """Take back the newest ``n`` tokens, as if they had never been appended.

        Raises ``RewindError``, and changes nothing, when the ring cannot, or when a token of the
        shorter text's window has been folded for good: a mean cannot be taken apart. ``slack``
        tokens can be taken back, counted from the longest that the text has been.
        """
        self.ring.rewind(n)
        if self.seen <= self.sinks:
            self._counts = ()
            self._clear()

    def reset(self) -> None:
        """Forget every token and every summary; the storage stays the same."""
        self.ring.reset()
        self._counts = ()
        self._clear()

    def _clear(self) -> None:
        self.summary_keys[:, len(self._counts) :] = 0
        self.summary_values[:, len(self._counts) :] = 0

    def state_dict(self) -> dict[str, Any]:
        """Give a copy of everything a ring is, as plain values and arrays."""
        sizes = {name: getattr(self, name) for name in SIZES}
        banks = {n: getattr(self, n).copy() for n in ("summary_keys", "summary_values")}
        return sizes | banks | {"counts": self.counts, "ring": self.ring.state_dict()}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> NumpySummaryRing:
        """Make a ring from a copy of a state; raises ``ValueError`` for one that no ring has."""
        if not isinstance(state, Mapping):
            raise TypeError(f"the state is a {type(state).__name__}; give a state_dict()")
        missing = {*SIZES, "summary_keys", "summary_values", "counts", "ring"} - set(state)
        if missing:
            raise ValueError(f"the state lacks {', '.join(sorted(missing))}; give a state_dict()")
        ring = NumpyRing.from_state_dict(state["ring"])
        kv_heads, _, head_dim = ring.keys.shape
        sizes = {name: state[name] for name in SIZES}
        made = cls(kv_heads=kv_heads, head_dim=head_dim, dtype=ring.keys.dtype, **sizes)
        done = folded(ring.seen, ring.window + ring.slack, ring.sinks)
        counts = check_counts(state["counts"], made.how, done, done + ring.slack)
        for name in ("summary_keys", "summary_values"):
            own, given = getattr(made, name), np.asarray(state[name])
            if given.shape != own.shape or given.dtype != own.dtype:
                raise ValueError(
                    f"{name} are {given.dtype} {given.shape}; these sizes make them {own.dtype} "
                    f"{own.shape}. Give a state_dict() as it is"
                )
            own[:] = given
        made.ring, made._counts = ring, counts
        made._clear()
        return made

    # What it tells of itself.

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
    def counts(self) -> npt.NDArray[np.int64]:
        """How many tokens each summary stands for, oldest first: (summaries,), 0 for none."""
        out = np.zeros(self.summaries, np.int64)
        out[: len(self._counts)] = self._counts
        return out

    @property
    def centres(self) -> npt.NDArray[Any]:
        """The mean position of each summary's members, x.5 included: (summaries,), NaN for none."""
        out = np.full(self.summaries, np.nan, self.summary_keys.dtype)
        found = spans(self._counts, self.sinks)
        out[: len(found)] = [(span[0] + span[-1]) / 2 for span in found]
        return out

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values; each slot's position takes 8 more."""
        return int(self.ring.nbytes + self.summary_keys.nbytes + self.summary_values.nbytes)

    def __repr__(self) -> str:
        sizes = f"window={self.window}, sinks={self.sinks}, slack={self.slack}"
        return f"<NumpySummaryRing {sizes}: seen {self.seen}, counts {list(self._counts)}>"
