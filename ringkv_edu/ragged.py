"""Rows of different lengths in one chunk: which tokens are real, and where they stand.

Inside a ring every row is padded on the right, so that token t of a row is the t-th real one. A
row that came padded on the left is turned round first, and its outputs are turned back.
"""

from __future__ import annotations

import torch

__all__ = ["compacted", "spread"]

Tensor = torch.Tensor


def compacted(
    tokens: tuple[Tensor, ...], lengths: Tensor | None, padding: str
) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """Give all of ``tokens`` padded on the right, and which are real: None when all are."""
    if lengths is None:
        return tokens, None
    n = tokens[0].shape[2]
    return tuple(compact(x, lengths, padding) for x in tokens), real_tokens(lengths, n)


def real_tokens(lengths: Tensor, n: int) -> Tensor:
    """Say which of n tokens are real, once rows are padded on the right: (batch, n) bool."""
    return torch.arange(n, device=lengths.device) < lengths[:, None]


def compact(x: Tensor, lengths: Tensor, padding: str) -> Tensor:
    """Give ``x`` (batch, heads, n, head_dim) padded on the right, with zeros."""
    n = x.shape[2]
    if padding == "left" and n > 1:
        x = _turned(x, n - lengths)
    return torch.where(real_tokens(lengths, n)[:, None, :, None], x, 0)


def spread(x: Tensor, lengths: Tensor, padding: str) -> Tensor:
    """Put the outputs of compacted rows where their tokens came from, zeros where none did."""
    n = x.shape[2]
    x = torch.where(real_tokens(lengths, n)[:, None, :, None], x, 0)
    return _turned(x, lengths - n) if padding == "left" and n > 1 else x


def _turned(x: Tensor, by: Tensor) -> Tensor:
    """Turn each row round: token t of the result is token (t + by) % n."""
    n = x.shape[2]
    places = (torch.arange(n, device=x.device) + by[:, None]) % n
    return x.gather(2, places[:, None, :, None].expand_as(x))
