"""Stage 2: the ring-buffer KV cache in NumPy, for several heads and chunks of any length.

The storage is made once. A token at position ``p`` lives in slot ``p`` when it is a sink, else in
slot ``sinks + (p - sinks) % (window + slack)``. Attention reads the slots as they lie; which of
them a query sees is decided from the stored positions by ``visibility_mask`` and by nothing else.

A worked example, window 4, no sinks, no slack, after ten tokens::

    slot         0  1  2  3
    position     8  9  6  7
    next write   slot 2 (position 10), over position 6, which has just left the window

Source: the rolling buffer of Mistral 7B (arXiv 2310.06825); sinks from StreamingLLM
(arXiv 2309.17453); grouped queries (arXiv 2305.13245); systems S5, S6, S23.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import check_heads, check_tokens, count, factor, zeros
from .rewind import RewindError, check_positions, length_after_rewind
from .visibility import in_reach, slot_of, slots_of, visibility_mask

__all__ = ["NumpyRing", "RewindError", "masked_attention"]

Array = npt.NDArray[Any]
SIZES, ARRAYS = ("window", "sinks", "slack", "seen"), ("keys", "values", "positions")
BLOCK = 128  # query rows of a chunk that attend together: bounds the memory for scores


class NumpyRing:
    """A KV cache of ``sinks + window + slack`` slots, for one layer and one sequence.

    ``window`` counts the query itself and leaves the sinks out; ``slack`` more slots make it
    possible to take back up to ``slack`` tokens once the ring is full. ``dtype`` is float16,
    float32 or float64; scores are computed in float32 at least (NumPy converts a float16 ring for
    each attention: half the memory, and slower).

    Attributes: ``keys`` and ``values`` (kv_heads, slots, head_dim); ``positions`` (slots,) int64,
    -1 where a slot is empty; ``seen``, tokens ever appended less those taken back: the next
    token's position; ``window``, ``sinks``, ``slack``, ``slots``.
    Raises ``ValueError`` or ``TypeError`` for sizes that cannot be.
    """

    def __init__(
        self,
        window: int,
        kv_heads: int,
        head_dim: int,
        sinks: int = 0,
        slack: int = 0,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        self.window = count("window", window, 1)
        self.sinks, self.slack = count("sinks", sinks, 0), count("slack", slack, 0)
        self.slots = self.sinks + self.window + self.slack
        shape = (2, count("kv_heads", kv_heads, 1), self.slots, count("head_dim", head_dim, 1))
        self.keys, self.values = zeros(shape, dtype)
        self.positions = np.full(self.slots, -1, np.int64)
        self.seen = 0

    # The heart: write, mask, attend, step.

    def _places(self, n: int) -> tuple[Any, Any, Any]:
        """Say which of the next n tokens will stay, their positions and their slots.

        One token gets plain numbers, which NumPy takes several times faster than arrays.
        """
        ring = self.window + self.slack
        if n == 1:
            return 0, self.seen, slot_of(self.seen, ring, self.sinks)
        new = self.seen + np.arange(n)
        stays = (new < self.sinks) | (new > new[-1] - ring)  # so that no slot is written twice
        return stays, new[stays], slots_of(new[stays], ring, self.sinks)

    def _write(self, k: Array, v: Array) -> None:
        stays, positions, slots = self._places(k.shape[1])
        v = v[:, stays].copy()  # it may be a view of the keys that are written first
        self.keys[:, slots] = k[:, stays]
        self.values[:, slots] = v
        self.positions[slots] = positions
        self.seen += k.shape[1]

    def _mask(self, queries: Array, held: Array) -> npt.NDArray[np.bool_]:
        return visibility_mask(queries, held, self.window, self.sinks)

    def _one(self, q: Array, scale: float) -> Array:
        """Let the newest position attend to the slots as they lie: q (heads, 1, head_dim)."""
        held = np.flatnonzero(self.positions >= 0)
        top = int(held[-1]) + 1  # behind it nothing has been written yet
        if len(held) < top:  # a rewind left holes; what they hold must not become 0 x NaN
            self._clear(self.positions < 0)
        mask = self._mask(np.array([self.seen - 1]), self.positions[:top])
        return masked_attention(q, self.keys[:, :top], self.values[:, :top], mask, scale)

    def _chunk(self, q: Array, k: Array, v: Array, scale: float) -> Array:
        """Let several tokens attend to the ring as it was and to the chunk beside it."""
        queries = self.seen + np.arange(q.shape[1])
        held = np.concatenate([self.positions, queries])
        keys = np.concatenate([self.keys, k], axis=1)
        values = np.concatenate([self.values, v], axis=1)
        finite = np.isfinite(values[:, held >= 0]).all()
        rows = BLOCK if finite else 1  # a row alone meets no 0 x NaN
        out = np.empty_like(q)
        for start in range(0, len(queries), rows):
            some = slice(start, start + rows)
            near = in_reach(queries[some], held, self.window, self.sinks)
            mask = self._mask(queries[some], held[near])
            out[:, some] = masked_attention(q[:, some], keys[:, near], values[:, near], mask, scale)
        return out

    def append(self, k: Array, v: Array) -> None:
        """Store n tokens: ``k`` and ``v`` (kv_heads, n, head_dim), n >= 1, in the ring's dtype."""
        self._write(*check_tokens(k, v, self.keys))

    def step(self, q: Array, k: Array, v: Array, scale: float | None = None) -> Array:
        """Store n tokens and give what each of their queries sees.

        ``q`` (heads, n, head_dim), ``heads`` a multiple of kv_heads; ``k`` and ``v``
        (kv_heads, n, head_dim); the result has the shape of ``q``. ``scale`` multiplies the
        scores, head_dim ** -0.5 by default.

        One token is written first: the slot it takes is the key that has just left its window.
        Several attend first, because a later one would overwrite a key that an earlier one sees.
        """
        k, v = check_tokens(k, v, self.keys)
        q = check_heads(q, self.keys, k.shape[1])
        by = factor(scale, self.keys)
        if k.shape[1] == 1:
            q = q.copy()  # it may be a view of a slot that is written now
            self._write(k, v)
            return self._one(q, by)
        out = self._chunk(q, k, v, by)
        self._write(k, v)
        return out

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Give what a query at the newest position sees: ``q`` and the result (heads, head_dim).

        Zeros when nothing is stored.
        """
        q = check_heads(q, self.keys)
        by = factor(scale, self.keys)
        return self._one(q[:, None], by)[:, 0] if self.seen else np.zeros_like(q)

    # Taking back, starting again, keeping.

    def rewind(self, n: int) -> None:
        """Take back the newest ``n`` tokens, as if they had never been appended.

        Raises ``RewindError``, and changes nothing, when a sink or one of the last ``window``
        positions of the shorter text is no longer stored. ``rewind(0)`` and ``rewind(seen)``
        always work.
        """
        length = length_after_rewind(self.positions, self.seen, n, self.window, self.sinks)
        self._clear(self.positions >= length)
        self.seen = length

    def reset(self) -> None:
        """Forget every token; the storage stays the same."""
        self._clear(slice(None))
        self.seen = 0

    def state_dict(self) -> dict[str, Any]:
        """Give a copy of everything a ring is, as whole numbers and arrays."""
        sizes = {name: getattr(self, name) for name in SIZES}
        return sizes | {name: getattr(self, name).copy() for name in ARRAYS}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> NumpyRing:
        """Make a ring from a copy of a state; raises ``ValueError`` for one that no ring has."""
        if not isinstance(state, Mapping):
            raise TypeError(f"the state is a {type(state).__name__}; give a state_dict()")
        missing = [name for name in (*SIZES, *ARRAYS) if name not in state]
        if missing:
            raise ValueError(f"the state lacks {', '.join(missing)}; give a state_dict()")
        window, sinks, slack, seen = (state[name] for name in SIZES)
        keys = state["keys"]
        if not isinstance(keys, np.ndarray) or keys.ndim != 3:
            shape = getattr(keys, "shape", f"a {type(keys).__name__}")
            raise ValueError(f"keys are {shape}; give an array (kv_heads, slots, head_dim)")
        ring = cls(window, keys.shape[0], keys.shape[2], sinks, slack, keys.dtype)
        ring.seen = count("seen", seen, 0)
        for name in ARRAYS:
            own, given = getattr(ring, name), np.asarray(state[name])
            if given.shape != own.shape or given.dtype != own.dtype:
                raise ValueError(
                    f"{name} are {given.dtype} {given.shape}; window {ring.window}, sinks "
                    f"{ring.sinks} and slack {ring.slack} make them {own.dtype} {own.shape}. "
                    f"Give a state_dict() as it is"
                )
            own[:] = given
        check_positions(ring.positions, ring.seen, ring.window, ring.sinks, ring.slack)
        ring._clear(ring.positions < 0)
        return ring

    @property
    def size(self) -> int:
        """Positions stored now, sinks and slack included."""
        return int(np.count_nonzero(self.positions >= 0))

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values; each slot's position takes 8 more."""
        return int(self.keys.nbytes + self.values.nbytes)

    def __repr__(self) -> str:
        sizes = f"window={self.window}, sinks={self.sinks}, slack={self.slack}"
        return f"<NumpyRing {sizes}: seen {self.seen}, positions {self.positions.tolist()}>"

    def _clear(self, slots: Any) -> None:
        self.keys[:, slots] = 0
        self.values[:, slots] = 0
        self.positions[slots] = -1


def masked_attention(q: Array, keys: Array, values: Array, mask: Array, scale: float) -> Array:
    """Softmax attention of n queries over m stored tokens.

    ``q`` (heads, n, d), ``keys`` and ``values`` (kv_heads, m, d), ``mask`` (n, m) True where a
    key is seen, at least one in each row; the result is (heads, n, d). The query heads that share
    a key/value head are folded onto it, so that no key or value is copied.
    """
    kv_heads, m, d = keys.shape
    heads, n, _ = q.shape
    wide = np.result_type(q.dtype, np.float32)
    folded = q.reshape(kv_heads, -1, d) * wide.type(scale)  # head h reads h // group
    if n == 1:  # many keys, few queries: NumPy is up to twice as fast this way round
        scores = np.matmul(keys, folded.swapaxes(1, 2).copy(), dtype=wide).swapaxes(1, 2)
    else:
        scores = np.matmul(folded, keys.swapaxes(1, 2), dtype=wide)
    scores = np.where(mask, scores.reshape(heads, n, m), -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    out: Array = np.matmul(weights.reshape(kv_heads, -1, m), values, dtype=wide)
    return out.reshape(q.shape).astype(q.dtype, copy=False)
