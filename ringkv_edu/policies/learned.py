"""What leaves the window is folded into weighted means, and the weights are learned.

A token's share in its summary is a softmax over the members of a learned logit, linear in the
token's value, one map a key/value head: a token that says nothing can get next to no share, which
no plain mean can do. Keys are averaged with the same shares, rotated as they were stored.

Summaries merge by their softmax denominators, not by their counts: two softmaxes over two sets are,
weighted by their denominators, the softmax over both. The bank keeps the logarithm of each
denominator, so that nothing overflows; so a summary of what is needless gives way when it merges
with one of what is needed. To log n, which is right when all members score alike, every query head
adds a learned number.

With logits of 0 all of this is ``Pooled``: the shares are 1/n and the denominators n. The summaries
obey the law of ``ringkv_edu.summaries``.

Source: S26, S34; learned compression of what leaves as in the Compressive Transformer (arXiv
1911.05507); merging by denominators as in online softmax (arXiv 1805.02867).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..summaries import Fold, Merge
from ..torch_fold import Ask, Means, means_of
from ..torch_joint import Part, joint_attention
from ..torch_summaries import TorchSummaryRing
from .base import Policy, Shape, causal

__all__ = ["Learned", "LearnedRing", "Pooling", "weighed"]

Tensor = torch.Tensor


class Pooling(nn.Module):
    """What one layer learns: a map from values to logits, and each query head's number."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(shape.kv_heads, shape.head_dim))
        self.bias = nn.Parameter(torch.zeros(shape.heads))

    def logits(self, v: Tensor) -> Tensor:
        """Give the logits (batch, kv_heads, m) of values (batch, kv_heads, m, head_dim).

        A fixed factor of root head_dim lets the map learn at the pace of the larger weights.
        """
        logits: Tensor = (v * self.value[:, None]).sum(-1) * v.shape[-1] ** 0.5
        return logits

    def extra(self, extra: Tensor) -> Tensor:
        """Add each head's number to log n (batch or 1, n, m): (batch or 1, heads, n, m)."""
        return extra[:, None] + self.bias[:, None, None]


@dataclass(frozen=True)
class Learned(Policy):
    """Keep a window, ``sinks`` first tokens, and ``summaries`` weighted means of ``block``."""

    window: int
    sinks: int = 0
    summaries: int = 8
    block: int = 4
    merge: Merge = "oldest"
    name = "learned"

    @property
    def how(self) -> Fold:
        """How tokens are folded."""
        return Fold(self.summaries, self.block, self.merge).checked()

    def parameters(self, shape: Shape) -> Pooling:
        """Make the maps and numbers: zeros, so that training starts from plain means."""
        return Pooling(shape)

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``: the same plan as a cache follows, for all queries at once."""
        n = k.shape[2]
        exact = Part(k, v, causal(n, self.window, self.sinks, k.device))
        ask = Ask((), 1 - self.window - self.sinks, n, 0)
        table = means_of((ask,), self.how, n, k.dtype, k.device)
        left = slice(self.sinks, self.sinks + table.tokens)
        keys, values = k[:, :, left], v[:, :, left]
        share, _ = weighed(learned.logits(values), table.weights[..., self.summaries :] > 0)
        means = Part(share @ keys, share @ values, learned.extra(table.extra))
        return joint_attention(q, [exact, means], shape.scale, sink)[0]

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> LearnedRing:
        """See ``Policy.cache``."""
        cache = LearnedRing(
            self.window, batch, shape.kv_heads, shape.head_dim, self.summaries, self.block,
            self.merge, self.sinks, dtype=like.dtype, device=like.device,
        )  # fmt: skip
        cache.sink, cache.pooling = sink, learned
        return cache


class LearnedRing(TorchSummaryRing):
    """A ``TorchSummaryRing`` with learned shares.

    Beside each summary lies the logarithm of its softmax denominator, ``summary_logs`` (batch,
    kv_heads, summaries, 1). ``pooling`` is what was learned; None stands for logits of 0.
    """

    banks = (*TorchSummaryRing.banks, "summary_logs")
    given = (*TorchSummaryRing.given, "pooling")

    def __init__(self, *sizes: Any, **named: Any) -> None:
        super().__init__(*sizes, **named)
        self.pooling: Pooling | None = None
        with torch.inference_mode(False):
            self.summary_logs = torch.zeros_like(self.summary_keys[..., :1])

    def _fold(self, table: Means, k: Tensor, v: Tensor) -> tuple[Part, list[Tensor]]:
        """Give what queries see of the summaries, and what the bank becomes."""
        keys, values = self._sources(table, k, v)
        new = values[:, :, self.summaries :]
        none = new.new_zeros(new.shape[:3])
        logits = none if self.pooling is None else self.pooling.logits(new)
        logits = torch.cat([self.summary_logs[..., 0], logits], 2)
        share, logs = weighed(logits, table.weights > 0)
        means = [share @ keys, share @ values, logs[..., None]]
        extra = table.extra if self.pooling is None else self.pooling.extra(table.extra)
        return Part(means[0], means[1], extra), self._kept(table, means)


def weighed(logits: Tensor, parts: Tensor) -> tuple[Tensor, Tensor]:
    """Give each source's share in each mean, and the means' log-denominators.

    ``logits`` (batch, kv_heads, sources), a token's logit or a summary's log-denominator; ``parts``
    (batch or 1, means, sources) bool, which sources a mean is made of. The shares (batch, kv_heads,
    means, sources) are 0 for a mean without sources; the denominators (batch, kv_heads, means).
    """
    among = logits[:, :, None].masked_fill(~parts[:, None], -torch.inf)
    if not among.numel():  # no token has left yet
        return among, among.sum(-1)
    most = among.amax(-1, keepdim=True).clamp(min=torch.finfo(among.dtype).min)
    weights = torch.exp(among - most)
    total = weights.sum(-1, keepdim=True).clamp(min=torch.finfo(among.dtype).tiny)
    return weights / total, (most + total.log()).squeeze(-1)
