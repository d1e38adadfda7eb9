"""Several new tokens attend to the ring as it was and to each other, before any of them is stored.

In blocks of queries, so that scores and masks stay small: a block meets the stored keys that its
first query may still see, the sinks, and the tokens of the chunk that its windows reach.
"""

from __future__ import annotations

import torch

from .torch_attention import attention
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
    out = []
    for start in range(0, q.shape[2], BLOCK):
        some = slice(start, start + BLOCK)
        low = max(0, start - window + 1)  # the oldest of the chunk that a window reaches
        stop = min(start + BLOCK, q.shape[2])
        held, keys, values = (
            _in_reach(ours, theirs, dim, low, stop, sinks)
            for ours, theirs, dim in zip(old, new, (1, 2, 2), strict=True)
        )
        mask = sees(queries[:, some, None], held[:, None], window, sinks)
        out.append(attention(q[:, :, some], keys, values, mask, scale))
    return torch.cat(out, dim=2)


def _in_reach(ours: Tensor, theirs: Tensor, dim: int, low: int, stop: int, sinks: int) -> Tensor:
    """Put together what a block may see of the stored tokens and of the chunk's."""
    kept = ours if low == 0 else ours.narrow(dim, 0, min(sinks, ours.shape[dim]))
    first, near = theirs.narrow(dim, 0, min(sinks, low)), theirs.narrow(dim, low, stop - low)
    return torch.cat([kept, first, near], dim)
