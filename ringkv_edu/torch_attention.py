"""Attention over the slots of a torch ring: the products, chosen by measurement.

A decode step does little else than read every stored key and value once, so a product is as good
as the order in which it reads. Measured on CPU cores with AVX-512, 32 query heads of 128 numbers in
float32, in multiples of the time that plain reading of the keys and values takes:

- `scaled_dot_product_attention`, the query heads of a group as rows: 2.5 to 5.2 in all.
- scores as K q^T read the keys row after row: 0.5 for many heads that no cache holds, where
  q K^T takes 1.8. Small rings are faster the other way round.
- values as a weighted sum of rows (`embedding_bag`): 0.4 to 0.9 with one query head to a
  key/value head, where a matrix product takes 1 to 2.
- with several query heads to a key/value head and one thread, NumPy's matrix product in tiles of
  256 rows: 0.9 for the values, where torch's takes 1.4 to 2, and for the scores 0.8 of what K q^T
  takes, once the keys are read ahead (``ringkv_edu.numpy_products``).

Repeating keys and values for four query heads each (`repeat_interleave`) took 7 times as long as
these products at 8 MiB and 25 times at 32 MiB: nothing here does it.
For half precision, and for float32 on an accelerator, `scaled_dot_product_attention` does the
work, the query heads of a group as rows of one product: no backend can fall back to repeated keys.
It has no fused kernel for float64 and would copy the keys, so float64 gets plain products there.

Source: arXiv 1706.03762, grouped queries arXiv 2305.13245; S5, S8.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from .numpy_products import scores_of, scores_read_ahead, values_of
from .torch_bounds import hidden

__all__ = ["attention", "one_query"]

Tensor = torch.Tensor
HALVES = (torch.float16, torch.bfloat16)
SMALL = 8 * 2**20  # bytes of keys up to which the caches of a CPU hold them


def attention(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scale: float) -> Tensor:
    """Let several queries attend to m stored tokens.

    ``q`` (batch, heads, n, head_dim), ``keys`` and ``values`` (batch, kv_heads, m, head_dim),
    ``mask`` (batch, n, m), True where a key is seen; the result has the shape of ``q``. What a
    query that sees nothing gets is not defined.
    """
    batch, heads, n, head_dim = q.shape
    group = heads // keys.shape[1]
    rows = q.reshape(batch, keys.shape[1], group * n, head_dim)
    each = mask[:, None, None].expand(-1, 1, group, -1, -1).reshape(batch, 1, group * n, -1)
    out = functional.scaled_dot_product_attention(rows, keys, values, each, scale=scale)
    return out.reshape(q.shape)


def one_query(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Let one query a row attend: ``q`` (batch, heads, 1, head_dim), ``mask`` (batch, m) or None.

    The result has the shape of ``q``; nothing as large as the keys or the values is made.
    """
    batch, heads, _, head_dim = q.shape
    rows = q.reshape(batch, keys.shape[1], heads // keys.shape[1], head_dim)
    if keys.dtype in HALVES or (keys.dtype == torch.float32 and not keys.is_cpu):
        each = None if mask is None else mask[:, None, None]
        out = functional.scaled_dot_product_attention(rows, keys, values, each, scale=scale)
        return out.reshape(q.shape)
    small = keys.numel() * keys.element_size() <= SMALL
    tiled = _numpy_may(q, keys)
    scores = _scores(rows, keys, scale, small, tiled)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None], -torch.inf)
    return _weighted(torch.softmax(scores, -1), values, small, tiled).reshape(q.shape)


def _scores(rows: Tensor, keys: Tensor, scale: float, small: bool, tiled: bool) -> Tensor:
    """Give (batch, kv_heads, group, m): every query of a group with every key of its head."""
    if tiled and (small or rows.shape[2] > 1):
        return _tiled_scores(rows, keys, scale, small)
    rows = rows * scale
    if small:
        return torch.matmul(rows, keys.transpose(2, 3))
    return torch.matmul(keys, rows.transpose(2, 3)).transpose(2, 3)


def _weighted(weights: Tensor, values: Tensor, small: bool, tiled: bool) -> Tensor:
    """Give (batch, kv_heads, group, head_dim): the values, weighted and summed over m."""
    batch, kv_heads, group, m = weights.shape
    if group == 1 and values.is_cpu and values.is_contiguous() and not (small and tiled):
        rows = torch.arange(batch * kv_heads * m, dtype=torch.int32, device=values.device)
        table = values.view(len(rows), -1)
        each = weights.reshape(-1)
        out = functional.embedding_bag(rows, table, rows[::m], mode="sum", per_sample_weights=each)
        return out.view(batch, kv_heads, 1, -1)
    return _tiled_values(weights, values) if tiled else torch.matmul(weights, values)


def _numpy_may(*tensors: Tensor) -> bool:
    """Say whether NumPy may do a product: one thread, real memory, nobody compiling or watching."""
    if hidden(tensors[0]) or torch.get_num_threads() > 1:
        return False
    return all(type(x) is Tensor and not x.is_neg() for x in tensors)


@np.errstate(all="ignore")  # as torch: what is not finite is the caller's, without a warning
def _tiled_scores(rows: Tensor, keys: Tensor, scale: float, small: bool) -> Tensor:
    stored = keys.numpy()
    scores = scores_of if small else scores_read_ahead
    return torch.from_numpy(scores(rows.numpy() * stored.dtype.type(scale), stored))


@np.errstate(all="ignore")
def _tiled_values(weights: Tensor, values: Tensor) -> Tensor:
    return torch.from_numpy(values_of(weights.numpy(), values.numpy()))
