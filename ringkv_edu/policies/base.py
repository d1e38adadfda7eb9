"""The small interface behind which all policies stand.

A policy says what a layer keeps of the past and what a query sees of it. It gives that twice:

- ``whole(q, k, v, ...)`` for a whole sequence at once, with gradients: to train with;
- ``cache(...)``, an object with ``step(q, k, v)`` for the next tokens: to decode with.

Both give the same numbers (the tests compare them), so what was trained is what runs. Keys and
queries arrive turned to their positions.

What every cache has::

    step(q, k, v)     stores n tokens a row, gives what each of their queries sees;
                      q (batch, heads, n, head_dim), k and v (batch, kv_heads, n, head_dim)
    seen              tokens so far, (batch,): the next token's position
    nbytes            bytes of all that grows or is kept: keys, values, summaries, states, token ids
    reset()           forget everything

A cache whose ``reads_tokens`` is True also has ``belongs_to(model, layer)``, called once by the
decoder that made it, and ``read(tokens)``, called with the ids (batch, n) before each step; its
policy's ``whole`` takes ``index``, the layer's keys of tokens that went through no layer below.

Source: S33 to S35; one policy a file, as in NVIDIA's kvpress.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

__all__ = ["Policy", "Shape", "causal"]

Tensor = torch.Tensor


class Shape(NamedTuple):
    """The sizes of one layer's attention; ``base`` is the one its keys were turned by."""

    heads: int
    kv_heads: int
    head_dim: int
    base: float

    @property
    def scale(self) -> float:
        """What scores are multiplied by."""
        return float(self.head_dim**-0.5)


@dataclass(frozen=True)
class Policy:
    """What a layer keeps of the past. Policies are small frozen dataclasses: sizes, no state."""

    name = "policy"
    reads_tokens = False

    def parameters(self, shape: Shape) -> nn.Module | None:
        """Make what this policy learns in each layer, if anything."""
        return None

    def whole(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        shape: Shape,
        learned: Any = None,
        sink: Tensor | None = None,
    ) -> Tensor:
        """Let all tokens of sequences attend, with gradients.

        ``q`` and the result (batch, heads, n, head_dim), ``k`` and ``v`` (batch, kv_heads, n,
        head_dim), token t at position t; ``sink`` (heads,) a learned logit that gives no value.
        """
        raise NotImplementedError

    def cache(
        self,
        shape: Shape,
        batch: int,
        like: Tensor,
        learned: Any = None,
        sink: Tensor | None = None,
    ) -> Any:
        """Make an empty cache of one layer, of the dtype and on the device of ``like``."""
        raise NotImplementedError


def causal(n: int, window: int, sinks: int, device: Any) -> Tensor:
    """Give which of n queries sees which of n keys, exactly: (1, n, n) bool."""
    from ..visibility import sees

    at = torch.arange(n, device=device)
    seen: Tensor = sees(at[:, None], at, window, sinks)[None]
    return seen
