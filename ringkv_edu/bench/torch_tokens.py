"""What `ringkv bench torch` stores and decodes: random numbers, made beforehand."""

from __future__ import annotations

import torch

from .torch_options import Options

__all__ = ["Token", "filling", "tokens"]

Tensor = torch.Tensor
Token = tuple[Tensor, Tensor, Tensor]
TOKENS = 16  # that are decoded over and over


def tokens(options: Options, kv_heads: int) -> list[Token]:
    """Make tokens of one row: q (1, heads, 1, head_dim), k and v (1, kv_heads, 1, head_dim)."""
    return [
        (_random(options, options.heads, 1), *filling(options, kv_heads, 1)) for _ in range(TOKENS)
    ]


def filling(options: Options, kv_heads: int, n: int) -> tuple[Tensor, Tensor]:
    """Make the keys and values of n tokens: (1, kv_heads, n, head_dim) each."""
    return _random(options, kv_heads, n), _random(options, kv_heads, n)


def _random(options: Options, heads: int, n: int) -> Tensor:
    shape = (1, heads, n, options.head_dim)
    return torch.randn(shape, dtype=options.torch_dtype, device=options.device)
