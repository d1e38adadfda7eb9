"""The attention that `ringkv bench torch` offers: every peer may take the quickest of them.

Each takes ``q`` (batch, heads, 1, head_dim), ``keys`` and ``values`` (batch, kv_heads, m, head_dim)
and gives (batch, heads, 1, head_dim). None repeats a key for the query heads of its group: the
heads of a group are rows of one product.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from ..torch_attention import one_query

__all__ = ["Attention", "candidates"]

Tensor = torch.Tensor
Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


def candidates(device: str) -> dict[str, Attention]:
    """Give the candidates for a device, by the name that the report has for them."""
    offered: dict[str, Attention] = {"sdpa": _sdpa, "K q^T": _keys_first, "q K^T": _query_first}
    if device == "cuda":  # on a CPU it takes twice the time of the folded form
        offered["sdpa gqa"] = _grouped
    return offered | {"course": _course}


def _folded(q: Tensor, keys: Tensor) -> Tensor:
    batch, heads, _, head_dim = q.shape
    return q.reshape(batch, keys.shape[1], heads // keys.shape[1], head_dim)


def _sdpa(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    out = functional.scaled_dot_product_attention(_folded(q, keys), keys, values)
    return out.reshape(q.shape)


def _grouped(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, keys, values, enable_gqa=True)


def _keys_first(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    rows = _folded(q, keys) * q.shape[3] ** -0.5
    scores = torch.matmul(keys, rows.transpose(2, 3)).transpose(2, 3)
    return torch.matmul(torch.softmax(scores, -1), values).reshape(q.shape)


def _query_first(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    rows = _folded(q, keys) * q.shape[3] ** -0.5
    scores = torch.matmul(rows, keys.transpose(2, 3))
    return torch.matmul(torch.softmax(scores, -1), values).reshape(q.shape)


def _course(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return one_query(q, keys, values, None, q.shape[3] ** -0.5)
