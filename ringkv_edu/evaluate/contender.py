"""Who takes part in a comparison: a model, and what each of its layers keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..model import Decoder
from ..policies import Full, Policy
from .names import name_of

__all__ = ["CHUNK", "Contender", "contenders", "pieces", "total_bytes"]

Tensor = torch.Tensor
CHUNK = 256  # tokens that enter a cache together: the same as one by one, and quicker


@dataclass(frozen=True)
class Contender:
    """A model that decodes with some policy: its own (None), one for all layers, or one for each.

    Another policy than its own can be put under a model when the policy learns nothing.
    """

    name: str
    model: Decoder
    policies: Policy | Sequence[Policy] | None = None

    def caches(self, batch: int = 1) -> list[Any]:
        """Make an empty cache for each layer; raises ``ValueError`` for what is not trained."""
        if self.policies is None:
            return self.model.caches(batch)
        layers = [block.attention for block in self.model.blocks]
        given = self.policies
        each = [given] * len(layers) if isinstance(given, Policy) else list(given)
        if len(each) != len(layers):
            raise ValueError(f"{self.name} has {len(each)} policies for {len(layers)} layers")
        made = [self._cache(layer, one, batch) for layer, one in zip(layers, each, strict=True)]
        for at, cache in enumerate(made):
            if getattr(cache, "reads_tokens", False):  # as recomputing does
                cache.belongs_to(self.model, at)
        return made

    def _cache(self, layer: Any, policy: Policy, batch: int) -> Any:
        own = policy == layer.policy
        if not own and policy.parameters(layer.shape) is not None:
            raise ValueError(
                f"{self.name}: {policy.name} learns, and this model was not trained with it; "
                f"give a model that was"
            )
        learned = layer.learned if own else None
        return policy.cache(layer.shape, batch, layer.k.weight, learned, layer.sink)


def contenders(
    model: Decoder, policies: Mapping[str, Policy] | Sequence[Policy]
) -> list[Contender]:
    """Put several policies under one model; those without a name are called by their sizes."""
    named = policies if isinstance(policies, Mapping) else {name_of(p): p for p in policies}
    return [Contender(name, model, policy) for name, policy in named.items()]


def full_of(model: Decoder) -> Contender:
    """Give the model with everything kept: what the others are compared with."""
    return Contender("full", model, Full())


def pieces(tokens: Tensor, chunk: int = CHUNK) -> Iterator[Tensor]:
    """Cut tokens (batch, n) into chunks, the first first."""
    return iter(torch.split(tokens, chunk, dim=1))


def total_bytes(caches: Sequence[Any]) -> int:
    """Add up what all layers keep."""
    return sum(int(cache.nbytes) for cache in caches)
