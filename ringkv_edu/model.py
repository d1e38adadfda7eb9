"""A small decoder, written to be read: Llama's blocks, and any cache policy in its attention.

    token -> embedding -> [ norm, attention, add | norm, MLP, add ] x layers -> norm -> logits

Keys and queries are turned to their positions (RoPE), ``kv_heads`` key/value heads are shared by
groups of query heads (GQA), norms divide by the root of the mean square (RMSNorm) and the MLP is
gated (SwiGLU): Llama's weights fit as they are, so SmolLM2 runs in it too (``ringkv_edu.real``).

There are two ways through it, and they give the same numbers. ``forward`` takes whole sequences
and has gradients: for training. ``step`` takes the next tokens and a cache for each layer: for
decoding. What a query may see, and of what it sees summaries, is the business of the layer's
policy (``ringkv_edu.policies``) and of nothing here.

Source: Llama (arXiv 2302.13971), RoPE (arXiv 2104.09864), GQA (arXiv 2305.13245), RMSNorm
(arXiv 1910.07467); layers that see all beside layers that slide as in Gemma 3 (arXiv 2503.19786); a
learned sink logit as in gpt-oss; S11, S28, S43.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from .policies import Policy, Shape
from .rope import cos_sin

__all__ = ["Config", "Decoder"]

Tensor = torch.Tensor
Turns = tuple[Tensor, Tensor]  # cosines and sines


@dataclass(frozen=True)
class Config:
    """The sizes of a decoder; ``hidden`` is the MLP's width, ``base`` RoPE's."""

    vocab: int
    dim: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    base: float = 10000.0
    eps: float = 1e-5
    sink_logit: bool = False


class Decoder(nn.Module):
    """Embedding, blocks, norm; the embedding's weights are also those of the logits (tied).

    ``policies`` gives one policy for all layers, or one for each: global and sliding layers mixed.
    """

    def __init__(self, config: Config, policies: Policy | Sequence[Policy]) -> None:
        super().__init__()
        self.config = config
        each = [policies] * config.layers if isinstance(policies, Policy) else list(policies)
        if len(each) != config.layers:
            raise ValueError(
                f"{len(each)} policies for {config.layers} layers; give one for each, "
                f"or one for all"
            )
        self.embed = nn.Embedding(config.vocab, config.dim)
        self.blocks = nn.ModuleList(Block(config, policy) for policy in each)
        self.norm = nn.RMSNorm(config.dim, eps=config.eps)
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Give the logits (batch, n, vocab) of whole sequences ``tokens`` (batch, n)."""
        x = first = self.embed(tokens)
        turns = turns_at(torch.arange(tokens.shape[1]), self.config, x)
        for block in self.blocks:
            x = block(x, turns, first=first)
        return self.logits(x)

    def caches(self, batch: int = 1) -> list[Any]:
        """Make an empty cache for each layer, by its policy."""
        made: list[Any] = [block.attention.cache(batch) for block in self.blocks]  # type: ignore
        for layer, cache in enumerate(made):
            if getattr(cache, "reads_tokens", False):
                cache.belongs_to(self, layer)
        return made

    @torch.no_grad()
    def step(self, tokens: Tensor, caches: Sequence[Any], last: bool = False) -> Tensor:
        """Take the next ``tokens`` (batch, n) into the caches; give their logits (batch, n, vocab).

        With ``last`` only the logits of the last token, (batch, 1, vocab): all that decoding needs.
        """
        for cache in caches:
            if getattr(cache, "reads_tokens", False):
                cache.read(tokens)
        x = self.embed(tokens)
        seen = torch.as_tensor(caches[0].seen).reshape(-1, 1)
        turns = turns_at(seen + torch.arange(tokens.shape[1]), self.config, x)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, turns, cache)
        return self.logits(x[:, -1:] if last else x)

    def logits(self, x: Tensor) -> Tensor:
        """Give a score for each token of the vocabulary."""
        return functional.linear(self.norm(x), self.embed.weight)


class Block(nn.Module):
    """Attention, then the MLP; each reads a normed copy of the stream and adds to it."""

    def __init__(self, config: Config, policy: Policy) -> None:
        super().__init__()
        self.norm1 = nn.RMSNorm(config.dim, eps=config.eps)
        self.attention = Attention(config, policy)
        self.norm2 = nn.RMSNorm(config.dim, eps=config.eps)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, turns: Turns, cache: Any = None, first: Any = None) -> Tensor:
        """Give the stream (batch, n, dim) after this block; ``first`` is that before any block."""
        index = None
        if first is not None and self.attention.policy.reads_tokens:
            index = self.attention.key_values(self.norm1(first), turns)[0]
        x = x + self.attention(self.norm1(x), turns, cache, index)
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


class Attention(nn.Module):
    """Projections and RoPE; the policy does the rest, over the sequence or over a cache."""

    def __init__(self, config: Config, policy: Policy) -> None:
        super().__init__()
        self.policy, wide = policy, config.heads * config.head_dim
        self.shape = Shape(config.heads, config.kv_heads, config.head_dim, config.base)
        narrow = config.kv_heads * config.head_dim
        self.q, self.k = _linear(config.dim, wide), _linear(config.dim, narrow)
        self.v, self.out = _linear(config.dim, narrow), _linear(wide, config.dim)
        self.sink = nn.Parameter(torch.zeros(config.heads)) if config.sink_logit else None
        self.learned = policy.parameters(self.shape)

    def forward(self, x: Tensor, turns: Turns, cache: Any = None, index: Any = None) -> Tensor:
        """Let every token attend: to the sequence, or to what the cache holds and to itself.

        ``index``, for a policy that reads tokens, are the keys it chooses by.
        """
        q, (k, v) = turn(self._heads(self.q(x)), turns), self.key_values(x, turns)
        if cache is None:
            more = {} if index is None else {"index": index}
            seen = self.policy.whole(q, k, v, self.shape, self.learned, self.sink, **more)
        else:
            seen = cache.step(q, k, v)
        out: Tensor = self.out(seen.transpose(1, 2).flatten(2))
        return out

    def key_values(self, x: Tensor, turns: Turns) -> tuple[Tensor, Tensor]:
        """Give turned keys, and values, (batch, kv_heads, n, head_dim), of a normed stream."""
        return turn(self._heads(self.k(x)), turns), self._heads(self.v(x))

    def cache(self, batch: int) -> Any:
        """Make this layer's cache, empty."""
        like = self.k.weight
        return self.policy.cache(self.shape, batch, like, self.learned, self.sink)

    def _heads(self, x: Tensor) -> Tensor:
        """(batch, n, heads * head_dim) -> (batch, heads, n, head_dim)."""
        return x.view(*x.shape[:2], -1, self.shape.head_dim).transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps, one opens and closes the other's gates, and a third back."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate, self.up = _linear(config.dim, config.hidden), _linear(config.dim, config.hidden)
        self.down = _linear(config.hidden, config.dim)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, n, dim) -> the same."""
        out: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return out


def turns_at(positions: Tensor, config: Config, like: Tensor) -> Turns:
    """Give cosines and sines for positions (n,) or (batch, n): (batch or 1, 1, n, head_dim / 2)."""
    rows = positions.reshape(-1, positions.shape[-1])
    both = cos_sin(rows.reshape(-1).cpu().numpy(), config.head_dim, config.base)
    cos, sin = (torch.from_numpy(x).view(len(rows), 1, rows.shape[1], -1).to(like) for x in both)
    return cos, sin


def turn(x: Tensor, turns: Turns) -> Tensor:
    """Turn each pair of numbers, i and i + head_dim / 2, by its angle."""
    cos, sin = turns
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False)
