"""What leaves the window is folded into weighted means, and the weights are learned.

A token's share in its summary is a softmax over the members of a learned logit, linear in the key
(turned back to position 0, so that a place has no say) and the value, one map a key/value head. A
token that says nothing can get a share of nothing, which no mean can give it.

Summaries merge by their softmax denominators, not by their counts: two softmaxes over two sets
are, weighted by their denominators, the softmax over both. The bank keeps the logarithm of each,
so that nothing overflows. Beside log n, which is right when all members score alike, every query
head learns one number to add: how much a summary may weigh.

The summaries obey the law of ``ringkv_edu.summaries``.

Source: S26, S34; attention pooling as in the Compressive Transformer (arXiv 1911.05507).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from ..rope import rotate
from ..summaries import Fold, Merge
from ..torch_bounds import without_gradients
from ..torch_fold import Ask, Means, means_of, turned_back, turned_to
from ..torch_joint import Part, joint_attention
from ..torch_summaries import TorchSummaryRing
from .base import Policy, Shape, causal

__all__ = ["Learned", "LearnedRing", "Pooling"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Learned(Policy):
    """Keep a window, ``sinks`` first tokens, and ``summaries`` weighted means of ``block``."""

    window: int
    sinks: int = 0
    summaries: int = 8
    block: int = 4
    merge: Merge = "oldest"
    pool: str = "rotated"
    name = "learned"

    @property
    def how(self) -> Fold:
        """How tokens are folded."""
        return Fold(self.summaries, self.block, self.merge).checked()

    def parameters(self, shape: Shape) -> nn.Module:
        """Make the logits' maps and the heads' numbers: with these at 0, plain means."""
        return Pooling(shape)

    def whole(self, q, k, v, shape, learned=None, sink=None):
        n, at = k.shape[2], torch.arange(k.shape[2], device=k.device)
        base = shape.base if "centre" in self.pool else None
        exact = Part(k, v, causal(n, self.window, self.sinks, k.device))
        table = means_of((Ask((), 1 - self.window - self.sinks, n, 0),), self.how, n, k.dtype, k.device)
        left = slice(self.sinks, self.sinks + table.tokens)
        keys, values = k[:, :, left], v[:, :, left]
        flat = turned_back(keys, at[None, left], shape.base if "k" in self.pool.split("-")[1] else None)
        lg = 0
        if "k" in self.pool.split("-")[1]: lg = lg + torch.einsum("bhmd,hd->bhm", flat, learned.key)
        if "v" in self.pool.split("-")[1]: lg = lg + torch.einsum("bhmd,hd->bhm", values, learned.value)
        share, _ = weighed(lg, table.weights[..., self.summaries :] > 0)
        keys = turned_to(share @ turned_back(keys, at[None, left], base), self.sinks + table.centres, base)
        extra = table.extra[:, None] + learned.bias[:, None, None]
        means = Part(keys, share @ values, extra)
        return joint_attention(q, [exact, means], shape.scale, sink)[0]


class Pooling(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.key = nn.Parameter(torch.zeros(shape.kv_heads, shape.head_dim))
        self.value = nn.Parameter(torch.zeros(shape.kv_heads, shape.head_dim))
        self.bias = nn.Parameter(torch.zeros(shape.heads))


def weighed(logits: Tensor, parts: Tensor) -> tuple[Tensor, Tensor]:
    """Give each source's share in each mean, and the means' log-denominators.

    ``logits`` (batch, kv_heads, sources), ``parts`` (batch or 1, means, sources) bool: which
    sources a mean is made of. The shares (batch, kv_heads, means, sources), 0 where a mean has
    no sources; the logarithms (batch, kv_heads, means) of the sums of exp(logit).
    """
    among = logits[:, :, None].masked_fill(~parts[:, None], -torch.inf)
    most = among.amax(-1, keepdim=True).clamp(min=torch.finfo(among.dtype).min)
    weights = torch.exp(among - most)
    total = weights.sum(-1, keepdim=True).clamp(min=torch.finfo(among.dtype).tiny)
    return weights / total, (most + total.log()).squeeze(-1)
