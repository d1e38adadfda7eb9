"""Tokens of a chunk that hold a number that is not finite: they reach only queries that see them.

A mask gives what is not seen a weight of 0, and 0 x NaN is NaN: in one product of a whole chunk a
spoilt token would reach the queries before it, and those that its window has left. So it is taken
out of the product, and what sees it becomes NaN. A single query needs none of this: what is stored
with it is the caller's.
"""

from __future__ import annotations

import torch

from .torch_attention import attention
from .torch_inputs import readable

__all__ = ["attention_around", "spoilt_tokens"]

Tensor = torch.Tensor


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
    met = met.repeat_interleave(q.shape[1] // keys.shape[1], 1)  # small: a bool a query
    return out.masked_fill(met[..., None], torch.nan)
