"""Attention over the slots of a torch ring: the products, chosen by measurement.

A decode step does little else than read every stored key and value once, so a product is as good
as the order in which it reads, and which order is good depends on the processor. In multiples of
the time that plain reading takes, for 32 query heads of 128 numbers in float32 and one thread:

- `scaled_dot_product_attention`, the query heads of a group as rows of one product: 0.9 to 1.5 on
  an Intel Xeon with AMX, from 32 MiB up; 2.5 to 5.2 on an AMD EPYC.
- the scores as K q^T, key after key as they lie: 1.5 to 3.9 in all on that Xeon, never the best
  there; on the EPYC 0.5 for the scores of many heads that no cache holds, where q K^T took 1.8.
- NumPy's products in tiles of 256 rows (``ringkv_edu.numpy_products``), one thread: level with
  the first on the Xeon for 128 MiB; on the EPYC, the keys read ahead, 1.3 to 1.9, the best there.

So a ring of a MiB and more finds out by itself: `Turns`.

Repeating keys and values for four query heads each (`repeat_interleave`) took 7 times as long as
these products at 8 MiB and 25 times at 32 MiB: nothing here does it.
For half precision, and for float32 on an accelerator, `scaled_dot_product_attention` does the
work, the query heads of a group as rows of one product: no backend can fall back to repeated keys.
It has no fused kernel for float64 and would copy the keys, so float64 gets plain products there.

Source: arXiv 1706.03762, grouped queries arXiv 2305.13245; S5, S8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .numpy_products import read_ahead, scores_of, scores_read_ahead, values_of
from .quickest import Turns
from .torch_bounds import hidden

__all__ = ["attention", "one_query", "way_of"]

Tensor = torch.Tensor
HALVES = (torch.float16, torch.bfloat16)
Way = Callable[..., Tensor]
SMALL = 8 * 2**20  # bytes of keys or values up to which a cache of a CPU holds them
LEAST = 2**20  # bytes of keys from which it pays to look for the quickest way
MOST = 256  # questions whose answers are remembered
_TURNS: dict[Any, Turns] = {}


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
        way: Way = _fused
    elif hidden(q) or not keys.is_cpu:
        way = _by_keys if keys.numel() * keys.element_size() > SMALL else _across
    else:
        way = way_of(rows, keys, mask is None, _TURNS)
    return way(rows, keys, values, mask, scale).reshape(q.shape)


def way_of(rows: Tensor, keys: Tensor, bare: bool, known: dict[Any, Turns]) -> Way:
    """Give the way to such products on a CPU: few keys have a fixed one, many take turns.

    ``rows`` (batch, kv_heads, group, head_dim); ``bare``: no mask; ``known``: the turns so far,
    of caches that are alike in what the processor still holds of them. It never grows large.
    """
    numpy = _numpy_may(rows, keys)
    if keys.numel() * keys.element_size() < LEAST:
        return _tiled if numpy else _across
    length, threads = keys.shape[2].bit_length(), torch.get_num_threads()
    asked = rows.shape, length, keys.dtype, bare, threads, numpy
    if asked not in known:
        if len(known) >= MOST:
            known.clear()
        # A fused kernel adds its mask: a hidden key that is not a number would come through.
        ways: list[Way] = [_fused] if bare else []
        known[asked] = Turns([*ways, *((_tiled, _read_ahead) if numpy else (_across,)), _by_keys])
    return known[asked]


def _numpy_may(*tensors: Tensor) -> bool:
    """Say whether NumPy may do a product: one thread, real memory."""
    if torch.get_num_threads() > 1:
        return False
    return all(type(x) is Tensor and not x.is_neg() for x in tensors)


# Each takes rows (batch, kv_heads, group, head_dim), keys, values, a mask or None, and the scale.


def _fused(rows: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    each = None if mask is None else mask[:, None, None]
    return functional.scaled_dot_product_attention(rows, keys, values, each, scale=scale)


def _across(
    rows: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    scores = torch.matmul(rows * scale, keys.transpose(2, 3))
    return torch.matmul(_softmax(scores, mask), values)


def _by_keys(
    rows: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    """Multiply key after key, as they lie; for single queries sum value after value, too."""
    scores = torch.matmul(keys, (rows * scale).transpose(2, 3)).transpose(2, 3)
    weights = _softmax(scores, mask)
    batch, kv_heads, group, m = weights.shape
    if group > 1 or not values.is_cpu or not values.is_contiguous():
        return torch.matmul(weights, values)
    at = torch.arange(batch * kv_heads * m, dtype=torch.int32, device=values.device)
    table, each = values.view(len(at), -1), weights.reshape(-1)
    out = functional.embedding_bag(at, table, at[::m], mode="sum", per_sample_weights=each)
    return out.view(batch, kv_heads, 1, -1)


@np.errstate(all="ignore")  # as torch: what is not finite is the caller's, without a warning
def _tiled(rows: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    stored = keys.numpy()
    scores = scores_of(rows.numpy() * stored.dtype.type(scale), stored)
    weights = _softmax(torch.from_numpy(scores), mask)
    return torch.from_numpy(values_of(weights.numpy(), values.numpy()))


@np.errstate(all="ignore")
def _read_ahead(
    rows: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    stored, summed = keys.numpy(), values.numpy()
    scores = scores_read_ahead(rows.numpy() * stored.dtype.type(scale), stored)
    weights = _softmax(torch.from_numpy(scores), mask)
    if summed.nbytes <= SMALL:
        read_ahead(summed)
    return torch.from_numpy(values_of(weights.numpy(), summed))


def _softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None], -torch.inf)
    return torch.softmax(scores, -1)
