"""One softmax over several parts: exact keys in a ring, keys of a chunk, summaries.

The parts lie in different storage, and no part is copied to stand beside another: only their
scores are put together. These functions have gradients, so that a model can be trained with the
very attention that a cache then runs.

Source: arXiv 1706.03762; a learned sink logit, dropped after the softmax, as in gpt-oss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import torch

__all__ = ["Part", "joint_attention", "watched", "watching"]

Tensor = torch.Tensor


class Part(NamedTuple):
    """Some of what queries see.

    ``keys`` and ``values`` (batch, kv_heads, m, head_dim). ``extra`` is added to the scores, -inf
    where a query does not see a key: (batch or 1, n or 1, m), or (batch or 1, heads, n or 1, m)
    when heads differ; a bool mask, True where it sees one; None when all queries see all keys.
    ``q``: the queries for this part alone, where they meet it turned otherwise than the rest.
    ``at``: the keys' positions, (batch or 1, m) or (batch, kv_heads, m), for whoever is watching;
    None for what stands for more than one token.
    """

    keys: Tensor
    values: Tensor
    extra: Tensor | None = None
    q: Tensor | None = None
    at: Tensor | None = None


Watcher = Callable[[list[Part], list[Tensor], Tensor], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(see: Watcher) -> Iterator[None]:
    """Show ``see`` the parts, their weights and each query's largest score, at every attention."""
    token = _watcher.set(see)
    try:
        yield
    finally:
        _watcher.reset(token)


def watched() -> bool:
    """Say whether somebody wants to see the weights, so that no way may be taken without them."""
    return _watcher.get() is not None


def joint_attention(
    q: Tensor, parts: list[Part], scale: float, sink: Tensor | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Let ``q`` (batch, heads, n, head_dim) attend to all parts with one softmax.

    Gives the outputs, of the shape of ``q``, and each part's weights (batch, heads, n, m). ``sink``
    (heads,) is a learned logit that takes part in the softmax and gives no value. The heads of a
    group are folded onto their key head; scores are float32 at least. A query that sees nothing
    gets zeros.
    """
    batch, heads, n, d = q.shape
    kv_heads = parts[0].keys.shape[1]
    wide = torch.promote_types(torch.promote_types(q.dtype, parts[-1].keys.dtype), torch.float32)
    asked = [q if part.q is None else part.q for part in parts]
    rows = [x.to(wide).reshape(batch, kv_heads, -1, d) * scale for x in asked]
    scores = [_scores(r, part, (batch, heads, n)) for r, part in zip(rows, parts, strict=True)]
    if sink is not None:
        scores.append(sink.to(wide).view(1, heads, 1, 1).expand(batch, heads, n, 1))
    joined = torch.cat(scores, -1)
    most = joined.amax(-1, keepdim=True).clamp(min=torch.finfo(wide).min)  # all -inf: no NaN
    weights = torch.exp(joined - most)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(wide).tiny)
    each = list(torch.split(weights, [s.shape[-1] for s in scores], -1))
    if (see := _watcher.get()) is not None:
        see(parts, each[: len(parts)], most[..., 0])
    out = q.new_zeros((batch, kv_heads, heads // kv_heads * n, d), dtype=wide)
    for w, part in zip(each, parts, strict=False):
        if part.keys.shape[2]:
            out = out + w.reshape(batch, kv_heads, -1, w.shape[-1]) @ part.values.to(wide)
    return out.reshape(q.shape).to(q.dtype), each[: len(parts)]


def _scores(rows: Tensor, part: Part, shape: tuple[int, int, int]) -> Tensor:
    scores = (rows @ part.keys.to(rows.dtype).transpose(2, 3)).view(*shape, part.keys.shape[2])
    if part.extra is None:
        return scores
    extra = part.extra if part.extra.ndim == 4 else part.extra.unsqueeze(1)
    if extra.dtype == torch.bool:
        return scores.masked_fill(~extra, -torch.inf)
    return scores + extra.to(scores.dtype)
