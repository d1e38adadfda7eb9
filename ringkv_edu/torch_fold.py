"""The plan of ``ringkv_edu.summaries`` as tensors: means of what is folded, for rows of any length.

Rows that are alike share one plan, and every layer of a model shares it too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch

from .rope import rotate
from .summaries import Counts, Fold, plan

__all__ = ["Ask", "Means", "means_of", "turned_back", "turned_to"]

Tensor = torch.Tensor


class Ask(NamedTuple):
    """What one row asks of a plan: see ``ringkv_edu.summaries.plan``."""

    before: Counts
    first: int
    queries: int
    keep: int


class Means(NamedTuple):
    """Plans of some rows, or of all rows at once when they are alike (then rows is 1)."""

    weights: Tensor  # (rows, means, sources) float64: each source's share; the bank, then tokens
    extra: Tensor  # (rows, n, means): log of the tokens, -inf where a query does not see a mean
    centres: Tensor  # (rows, means) float64, counted from the sinks
    kept: Tensor  # (rows, summaries): which means become the bank; past the last, any
    stay: Tensor  # (rows, summaries) bool: which of those there are
    after: tuple[Counts, ...]
    tokens: int  # how many sources are tokens


@lru_cache(maxsize=1024)
@torch.inference_mode(False)  # what is made once may be used in training, too
def means_of(
    asks: tuple[Ask, ...], how: Fold, n: int, dtype: torch.dtype, device: torch.device
) -> Means:
    """Give the plans of rows, for chunks of ``n`` queries: shorter rows are padded behind."""
    tables = [plan(a.before, how, a.first, a.queries, a.keep) for a in asks]
    rows, slots = len(tables), how.slots
    means = max(len(t.counts) for t in tables)
    tokens = max(t.parts.shape[1] - len(a.before) for a, t in zip(asks, tables, strict=True))
    weights = torch.zeros(rows, means, slots + tokens, dtype=torch.float64)
    extra = torch.full((rows, n, means), -torch.inf, dtype=torch.float64)
    centres = torch.zeros(rows, means, dtype=torch.float64)
    kept, stay = torch.zeros(rows, slots, dtype=torch.int64), torch.zeros(rows, slots).bool()
    for row, (ask, t) in enumerate(zip(asks, tables, strict=True)):
        m, old = len(t.counts), len(ask.before)
        shares = torch.from_numpy(t.weights)
        weights[row, :m, :old] = shares[:, :old]
        weights[row, :m, slots : slots + shares.shape[1] - old] = shares[:, old:]
        logs, seen = torch.from_numpy(t.counts).double().log(), torch.from_numpy(t.seen)
        extra[row, : len(seen), :m] = torch.where(seen, logs, -torch.inf)
        centres[row, :m] = torch.from_numpy(t.starts + (t.counts - 1) / 2)
        kept[row, : len(t.kept)], stay[row, : len(t.kept)] = torch.from_numpy(t.kept), True
    after = tuple(t.after for t in tables)
    weights, extra = weights.to(device), extra.to(device, dtype)
    centres, kept, stay = centres.to(device), kept.to(device), stay.to(device)
    return Means(weights, extra, centres, kept, stay, after, tokens)


def turned_back(keys: Tensor, positions: Tensor, base: float | None) -> Tensor:
    """Give keys (batch, kv_heads, m, head_dim) as they were before they were turned."""
    return keys if base is None else rotate(keys, -positions[:, None], base)


def turned_to(keys: Tensor, positions: Tensor, base: float | None) -> Tensor:
    """Give keys turned to positions (batch or 1, m), whole or half."""
    return keys if base is None else rotate(keys, positions[:, None], base)
