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
  256 rows: 0.9, where torch's takes 1.4 to 2.

Repeating keys for each query head (`repeat_interleave`) is 20 times slower: nothing here does it.
On an accelerator, or for half precision, `scaled_dot_product_attention` does the work, the query
heads of a group as rows of one product: no backend can fall back to repeated keys.

Source: arXiv 1706.03762, grouped queries arXiv 2305.13245; S5, S8.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

__all__ = ["attention", "one_query"]

Tensor = torch.Tensor
TILE = 256  # rows of keys or values that NumPy multiplies at once
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
    if keys.device.type != "cpu" or keys.dtype not in (torch.float32, torch.float64):
        each = None if mask is None else mask[:, None, None]
        out = functional.scaled_dot_product_attention(rows, keys, values, each, scale=scale)
        return out.reshape(q.shape)
    scores = _scores(rows * scale, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None], -torch.inf)
    return _weighted(torch.softmax(scores, -1), values).reshape(q.shape)


def _scores(rows: Tensor, keys: Tensor) -> Tensor:
    """Give (batch, kv_heads, group, m): every query of a group with every key of its head."""
    if _bytes(keys) > SMALL:
        return torch.matmul(keys, rows.transpose(2, 3)).transpose(2, 3)
    if _alone(keys):
        return _tiled_scores(rows, keys)
    return torch.matmul(rows, keys.transpose(2, 3))


def _weighted(weights: Tensor, values: Tensor) -> Tensor:
    """Give (batch, kv_heads, group, head_dim): the values, weighted and summed over m."""
    batch, kv_heads, group, m = weights.shape
    if group == 1 and values.is_contiguous():
        rows = torch.arange(batch * kv_heads * m, dtype=torch.int32, device=values.device)
        out = functional.embedding_bag(
            rows,
            values.view(len(rows), -1),
            rows[::m],
            mode="sum",
            per_sample_weights=weights.reshape(-1),
        )
        return out.view(batch, kv_heads, 1, -1)
    return _tiled_values(weights, values) if _alone(values) else torch.matmul(weights, values)


def _alone(x: Tensor) -> bool:
    """Say whether NumPy may do the work: one thread, real memory, nobody compiling."""
    if torch.compiler.is_compiling() or type(x) is not Tensor:
        return False
    return torch.get_num_threads() == 1


def _bytes(x: Tensor) -> int:
    return x.numel() * x.element_size()


@np.errstate(all="ignore")  # as torch: what is not finite is the caller's and needs no warning
def _tiled_scores(rows: Tensor, keys: Tensor) -> Tensor:
    q, k = rows.numpy()[:, :, None], keys.numpy()
    batch, kv_heads, group, _ = rows.shape
    scores = np.empty((batch, kv_heads, group, k.shape[2]), k.dtype)
    for start, stop, tiles in _tiles(k.shape[2]):
        part = k[:, :, start:stop].reshape(batch, kv_heads, tiles, -1, k.shape[3])
        out = scores[..., start:stop].reshape(batch, kv_heads, group, tiles, -1).swapaxes(2, 3)
        np.matmul(q, part.swapaxes(3, 4), out=out)
    return torch.from_numpy(scores)


@np.errstate(all="ignore")
def _tiled_values(weights: Tensor, values: Tensor) -> Tensor:
    w, v = weights.numpy(), values.numpy()
    batch, kv_heads, group, m = w.shape
    total = np.zeros((batch, kv_heads, group, v.shape[3]), v.dtype)
    for start, stop, tiles in _tiles(m):
        part = v[:, :, start:stop].reshape(batch, kv_heads, tiles, -1, v.shape[3])
        heavy = w[..., start:stop].reshape(batch, kv_heads, group, tiles, -1).swapaxes(2, 3)
        total += np.matmul(heavy, part).sum(2)
    return torch.from_numpy(total)


def _tiles(m: int) -> list[tuple[int, int, int]]:
    """Cut m rows into whole tiles and a rest: (start, stop, how many tiles)."""
    whole = m - m % TILE
    cuts = [(0, whole, whole // TILE), (whole, m, 1)]
    return [cut for cut in cuts if cut[0] < cut[1]]
