"""Where attention goes: how much of it to the first tokens, to the others, to summaries."""

from __future__ import annotations

from typing import NamedTuple

import torch

from ..torch_joint import Part, watching

__all__ = ["Looker", "Mass", "watching"]

Tensor = torch.Tensor


class Mass(NamedTuple):
    """Mean shares of a query's attention; with a learned sink logit they add up to less than 1."""

    sinks: float  # the first tokens of the text, kept as sinks or not
    window: float  # every other token that is held exactly
    summaries: float  # whatever stands for several tokens


class Looker:
    """Hand it to ``watching``: it adds up where attention goes, in all layers and heads.

    ``first`` says how many of the first tokens count as sinks. ``peak`` is the largest score that
    a query had (after scaling, before the softmax), ``weight`` the largest single weight.
    """

    def __init__(self, first: int) -> None:
        self.first, self.queries = first, 0
        self.sums = torch.zeros(3, dtype=torch.float64)
        self.peak = self.weight = -torch.inf

    def __call__(self, parts: list[Part], weights: list[Tensor], most: Tensor) -> None:
        """See one attention: see ``ringkv_edu.torch_joint.watching``."""
        self.queries += most.numel()
        self.peak = max(self.peak, _largest(most))
        for part, given in zip(parts, weights, strict=True):
            if not given.shape[-1]:
                continue
            self.weight = max(self.weight, _largest(given))
            total = float(given.double().sum())
            early = 0.0 if part.at is None else self._early(part.at, given)
            share = (0.0, 0.0, total) if part.at is None else (early, total - early, 0.0)
            self.sums += torch.tensor(share, dtype=torch.float64)

    def _early(self, at: Tensor, weights: Tensor) -> float:
        """Add up the weights of the first tokens; ``at`` may differ from key head to key head."""
        early = at < self.first  # an empty slot has no weight
        if early.ndim == 3:
            early = early.repeat_interleave(weights.shape[1] // early.shape[1], 1)
        mask = early.unsqueeze(-2) if early.ndim == 3 else early[:, None, None]
        return float((weights.double() * mask).sum())

    @property
    def mass(self) -> Mass | None:
        """The shares, or None while nothing has been seen: not every policy shows its weights."""
        if not self.queries:
            return None
        return Mass(*(self.sums / self.queries).tolist())


def _largest(x: Tensor) -> float:
    """Give the largest number; NaN counts as the largest of all."""
    return float(x.max()) if not bool(x.isnan().any()) else float("nan")
