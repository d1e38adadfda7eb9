"""Several new tokens attend to the ring as it was and to each other, before any of them is stored.

In blocks of queries, so that scores and masks stay small: a block meets the stored keys that its
first query may still see, the sinks, and the tokens of the chunk that its windows reach.

A token that holds a number that is not finite must reach only the queries that see it. A mask gives
the others a weight of 0, but 0 x NaN is NaN: in one product it would reach the queries before it
and those whose window has left it. So it is taken out of the product, and what sees it becomes NaN.
A single query needs none of this: what is stored with it is the caller's.
"""

from __future__ import annotations

import torch

from .torch_attention import attention
from .torch_inputs import readable
from .visibility import sees

__all__ = ["BLOCK", "chunk_attention"]

Tensor = torch.Tensor
Tokens = tuple[Tensor, Tensor, Tensor]  # positions (batch, m); keys, values (batch, kv_heads, m, d)
BLOCK = 128  # queries that attend together


def chunk_attention(
    q: Tensor, queries: Tensor, old: Tokens, new: Tokens, window: int, sinks: int, scale: float
) -> Tensor:
    """Let ``q`` (batch, heads, n, head_dim), at the positions ``queries`` (batch, n), attend.

    ``old`` are the tokens that are stored, ``new`` the n of the chunk, at rising positions, -1 for
    padding. The result has the shape of ``q``. What a query that sees nothing gets is not defined.
    """
    out, stored, given = [], spoilt_tokens(*old[1:]), spoilt_tokens(*new[1:])
    for start in range(0, q.shape[2], BLOCK):
        some = slice(start, start + BLOCK)
        low = max(0, start - window + 1)  # the oldest of the chunk that a window reaches
        stop = min(start + BLOCK, q.shape[2])
        held, keys, values, spoilt = (
            _in_reach(ours, theirs, dim, low, stop, sinks)
            for ours, theirs, dim in zip((*old, stored), (*new, given), (1, 2, 2, 2), strict=True)
        )
        mask = sees(queries[:, some, None], held[:, None], window, sinks)
        out.append(attention_around(spoilt, q[:, :, some], keys, values, mask, scale))
    return torch.cat(out, dim=2)


def _in_reach(ours: Tensor, theirs: Tensor, dim: int, low: int, stop: int, sinks: int) -> Tensor:
    """Put together what a block may see of the stored tokens and of the chunk's."""
    kept = ours if low == 0 else ours.narrow(dim, 0, min(sinks, ours.shape[dim]))
    first, near = theirs.narrow(dim, 0, min(sinks, low)), theirs.narrow(dim, low, stop - low)
    return torch.cat([kept, first, near], dim)


def spoilt_tokens(k: Tensor, v: Tensor) -> Tensor:
    """Say which tokens of ``k`` and ``v`` (batch, kv_heads, m, head_dim) are not finite.

    The result is (batch, kv_heads, m) bool. In CPU memory a sum says at once that none is.
    """
    wide = torch.promote_types(k.dtype, torch.float32)
    if readable(k, False) and bool((k.sum(dtype=wide) + v.sum(dtype=wide)).isfinite()):
        return torch.zeros(k.shape[:3], dtype=torch.bool, device=k.device)
    return ~(k.isfinite().all(-1) & v.isfinite().all(-1))


def attention_around(
    spoilt: Tensor, q: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scale: float
) -> Tensor:
    """Give ``attention`` without the ``spoilt`` tokens, and NaN for queries that see one.

    ``keys`` and ``values`` are cleared in place where a token is spoilt.
    """
    if readable(spoilt, False) and not bool(spoilt.any()):
        return attention(q, keys, values, mask, scale)
    for x in (keys, values):
        x.masked_fill_(spoilt[..., None], 0)
    out = attention(q, keys, values, mask, scale)
    met = (mask[:, None] & spoilt[:, :, None]).any(-1)  # (batch, kv_heads, n)
    groups = out.reshape(*keys.shape[:2], -1, *q.shape[2:])
    return groups.masked_fill(met[:, :, None, :, None], torch.nan).reshape(q.shape)
