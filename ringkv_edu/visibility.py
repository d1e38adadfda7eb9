"""The one rule of the course, and the slow oracle that every cache is compared with.

``window`` (W) is the number of positions a query sees, **including itself**, sinks not
counted. A key at position ``j`` is visible to a query at position ``i`` when ``j <= i`` and
(``i - j < W`` or ``j < S``), where ``S`` is ``sinks``: the first tokens, which never leave.

Nothing in this module ever reads a cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "in_reach", "oracle_attention", "sees", "slot_of", "slots_of", "visibility_mask", "visible",
]  # fmt: skip


def visible(query_position: int, key_position: int, window: int, sinks: int = 0) -> bool:
    """Say whether a query at one position sees the key at another.

    Positions count from 0; a negative key position means "empty" and is never visible.
    Raises ``ValueError`` when ``window < 1`` or ``sinks < 0``.
    Source: the window edge of sliding-window attention (Mistral 7B, arXiv 2310.06825), sinks
    from StreamingLLM (arXiv 2309.17453).
    """
    _check_sizes(window, sinks)
    if not 0 <= key_position <= query_position:
        return False
    return query_position - key_position < window or key_position < sinks


def visibility_mask(
    query_positions: npt.ArrayLike, key_positions: npt.ArrayLike, window: int, sinks: int = 0
) -> npt.NDArray[np.bool_]:
    """Give the same rule for many pairs at once.

    ``query_positions`` (n_q,) and ``key_positions`` (n_k,) are integers; the result is
    (n_q, n_k) bool, True where the key is visible. A key position of -1 marks an empty slot.
    Raises ``ValueError`` for a bad size and ``TypeError`` for positions that are not integers.
    """
    _check_sizes(window, sinks)
    query = _positions("query_positions", query_positions)[:, None]
    key = _positions("key_positions", key_positions)[None, :]
    mask: npt.NDArray[np.bool_] = sees(query, key, window, sinks)
    return mask


def sees(query: Any, key: Any, window: int, sinks: int) -> Any:
    """Give the rule on whole arrays or tensors of positions that broadcast, unchecked."""
    near = key > query - window  # in this order no array of differences is made
    return (key >= 0) & (key <= query) & (near | (key < sinks))


def in_reach(
    query_positions: npt.NDArray[np.int64],
    key_positions: npt.NDArray[np.int64],
    window: int,
    sinks: int = 0,
) -> npt.NDArray[np.bool_]:
    """Say which keys any of some queries in a row may see: (n_k,) bool.

    ``query_positions`` (n_q,) rise one by one, ``key_positions`` (n_k,) are in any order. A cheap
    first sieve for long chunks; ``visibility_mask`` then says which query sees which key.
    """
    first, last = query_positions[0], query_positions[-1]
    near = (first - key_positions < window) | (key_positions < sinks)
    reach: npt.NDArray[np.bool_] = (key_positions >= 0) & (key_positions <= last) & near
    return reach


def slot_of(position: int, ring: int, sinks: int = 0) -> int:
    """Name the physical slot where a position lives.

    Sinks keep their own slots 0..sinks-1; everything else goes round the ``ring`` slots behind
    them: slot ``sinks + (position - sinks) % ring``. Raises ``ValueError`` for a negative
    position, ``ring < 1`` or ``sinks < 0``.
    """
    if ring < 1:
        raise ValueError(f"ring is {ring}; a ring needs at least 1 slot")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}; give 0 or more first tokens to keep")
    if position < 0:
        raise ValueError(f"position is {position}; positions count from 0")
    return position if position < sinks else sinks + (position - sinks) % ring


def slots_of(positions: npt.NDArray[np.int64], ring: int, sinks: int = 0) -> npt.NDArray[np.int64]:
    """Name the slots of many positions, each 0 or more: ``slot_of`` on whole arrays (n,)."""
    return np.where(positions < sinks, positions, sinks + (positions - sinks) % ring)


def oracle_attention(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    v: npt.ArrayLike,
    window: int,
    sinks: int = 0,
    scale: float | None = None,
    first: int = 0,
) -> npt.NDArray[np.float64]:
    """Attention over the whole history, in float64, one query at a time.

    ``q`` (heads, n, head_dim); ``k`` and ``v`` (kv_heads, n, head_dim); token ``t`` of each is at
    position ``t``. ``heads`` is a multiple of ``kv_heads``: query head ``h`` reads key head
    ``h // (heads // kv_heads)``. ``scale`` multiplies the scores; the default is
    ``head_dim ** -0.5``. The result is (heads, n, head_dim), or the rows from token ``first`` on.
    Raises ``ValueError`` when the shapes do not fit or ``window < 1``.
    Source: scaled dot-product attention (arXiv 1706.03762), grouped queries (arXiv 2305.13245).
    """
    query, key, value = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    _check_shapes(query, key, value)
    heads, n, head_dim = query.shape
    group = heads // key.shape[0]
    factor = head_dim**-0.5 if scale is None else scale
    mask = visibility_mask(np.arange(n), np.arange(n), window, sinks)
    out = np.zeros((heads, n, value.shape[2]))
    for head in range(heads):
        for t in range(first, n):
            seen = mask[t]
            scores = key[head // group, seen] @ query[head, t] * factor
            weights = np.exp(scores - scores.max())
            out[head, t] = weights @ value[head // group, seen] / weights.sum()
    return out[:, first:]


def _check_sizes(window: int, sinks: int) -> None:
    if window < 1:
        raise ValueError(f"window is {window}; a query sees at least itself, so give 1 or more")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}; give 0 or more first tokens to keep")


def _positions(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} has dtype {array.dtype}; positions are integers")
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one row of positions, shape (n,)")
    return array.astype(np.int64)


def _check_shapes(
    q: npt.NDArray[np.float64], k: npt.NDArray[np.float64], v: npt.NDArray[np.float64]
) -> None:
    shapes = f"q {q.shape}, k {k.shape}, v {v.shape}"
    if not q.ndim == k.ndim == v.ndim == 3:
        raise ValueError(f"given {shapes}; each needs three axes (heads, n, head_dim)")
    if k.shape[:2] != v.shape[:2]:
        raise ValueError(f"given {shapes}; k and v need the same kv_heads and n")
    if q.shape[1] != k.shape[1]:
        raise ValueError(f"given {shapes}; the whole history is needed: one q for each k")
    if q.shape[2] != k.shape[2]:
        raise ValueError(f"given {shapes}; q and k need the same head_dim")
    if k.shape[0] == 0 or q.shape[0] % k.shape[0]:
        raise ValueError(f"given {shapes}; heads must be a multiple of kv_heads")
