"""Lesson 05: decode steps over rows of different ages, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..given_torch import RingRows, newest_sees, put
from .model import answers

Tensor = torch.Tensor
Weigh = Callable[[Tensor, Tensor], Tensor]  # (scores, mask (batch, 1, 1, slots)) -> weights


def softmax_masked(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def folded(q: Tensor, kv_heads: int) -> Tensor:
    """Give (batch, kv_heads, group, head_dim): the query heads that share a key/value head."""
    batch, heads, head_dim = q.shape
    return q.reshape(batch, kv_heads, heads // kv_heads, head_dim)


def attend(
    rows: RingRows, q: Tensor, weigh: Weigh = softmax_masked, scale: float | None = None
) -> Tensor:
    query = folded(q, rows.keys.shape[1])
    scores = query @ rows.keys.transpose(2, 3) * (q.shape[2] ** -0.5 if scale is None else scale)
    weights = weigh(scores, newest_sees(rows)[:, None, None])
    return (weights @ rows.values).reshape(q.shape)


def decode_step(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Write one token a row, then let its query attend: (batch, heads, head_dim)."""
    put(rows, k, v)
    return attend(rows, q)


def weighing(weigh: Weigh) -> dict[str, Any]:
    def mutant(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        put(rows, k, v)
        return attend(rows, q, weigh)

    return answers(decode_step=mutant)


def scaled(scale: Callable[[int, int], float]) -> dict[str, Any]:
    """Make a mutant with another scale, from (heads, head_dim)."""

    def mutant(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        put(rows, k, v)
        return attend(rows, q, scale=scale(q.shape[1], q.shape[2]))

    return answers(decode_step=mutant)


def scaled_by_kv_heads(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    put(rows, k, v)
    return attend(rows, q, scale=float(k.shape[1] ** -0.5))


def attends_first(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = attend(rows, q)
    put(rows, k, v)
    return out


def mask_before_writing(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    mask = newest_sees(rows)
    put(rows, k, v)
    return attend(rows, q, lambda scores, _: softmax_masked(scores, mask[:, None, None]))


def cycled(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Let query head h ask key/value head h % kv_heads."""
    kv_heads, group = k.shape[1], q.shape[1] // k.shape[1]
    order = torch.arange(q.shape[1]).view(group, kv_heads).T.reshape(-1)
    out = torch.empty_like(q)
    out[:, order] = decode_step(rows, q[:, order], k, v)
    return out


def joined_otherwise(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = folded(decode_step(rows, q, k, v), k.shape[1])
    return out.transpose(1, 2).reshape(q.shape)


def cycled_and_joined(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Fold as (group, kv_heads) and join as if it were (kv_heads, group)."""
    group = q.shape[1] // k.shape[1]
    query = q.reshape(q.shape[0], group, k.shape[1], -1).transpose(1, 2)
    return decode_step(rows, query.reshape(q.shape), k, v)


def first_kv_head(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    put(rows, k, v)
    only = RingRows(len(q), rows.window, 1, q.shape[2])
    only.keys, only.values, only.positions = rows.keys[:, :1], rows.values[:, :1], rows.positions
    return attend(only, q)


def old_keys(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    old = RingRows(len(q), rows.window)
    old.keys, old.values = rows.keys.clone(), rows.values.clone()
    put(rows, k, v)
    old.positions = rows.positions
    return attend(old, q)


def not_joined(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return folded(decode_step(rows, q, k, v), k.shape[1])


def values_from_keys(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    put(rows, k, v)
    both = RingRows(len(q), rows.window)
    both.keys, both.values, both.positions = rows.keys, rows.keys, rows.positions
    return attend(both, q)


def not_written(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    kept = {name: x.clone() for name, x in vars(rows).items() if isinstance(x, Tensor)}
    out = decode_step(rows, q, k, v)
    for name, x in kept.items():
        getattr(rows, name).copy_(x)
    return out


def never_written(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(rows, q)


def written_twice(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = decode_step(rows, q, k, v)
    put(rows, k, v)
    return out


def swapped(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return decode_step(rows, q, v, k)


def no_return(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> None:
    decode_step(rows, q, k, v)


def repeated(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    put(rows, k, v)
    group = q.shape[1] // k.shape[1]
    keys, values = (x.repeat_interleave(group, 1) for x in (rows.keys, rows.values))
    scores = (q[:, :, None] @ keys.transpose(2, 3))[:, :, 0] * q.shape[2] ** -0.5
    weights = torch.softmax(scores.masked_fill(~newest_sees(rows)[:, None], -torch.inf), -1)
    return (weights[:, :, None] @ values)[:, :, 0]


def read_by_the_host(rows: RingRows, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    int(rows.seen[0])
    return decode_step(rows, q, k, v)


def after_the_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, -1) * mask


def times_mask(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores * mask, -1)


def mask_without_axes(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax_masked(scores, mask[:, 0, 0])


def no_mask(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, -1)


def first_mask(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax_masked(scores, mask[:1])


def inverted(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax_masked(scores, ~mask)


def over(axis: int) -> Weigh:
    return lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -torch.inf), axis)


def no_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, 0)


def added(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, -1)


def not_divided(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.exp(scores.masked_fill(~mask, -torch.inf))
