"""One mask for each layer, made where its keys are handed over.

The library makes a mask once for each forward, before any layer has run, from two numbers that the
cache gives it: how many columns there are and where they begin. A ring with sinks has columns that
two numbers cannot describe, and a model such as Llama asks for no window at all. So the second
number that a `RingCache` gives is an `Offset`: a whole number that knows its cache. Where the
library's mask functions ``sdpa`` and ``eager`` meet one, the cache answers (`opened`); for every
other cache they do what they did.

The answer is a tensor that hides everything. Each layer, as it hands over its keys and values,
turns this one tensor into its own mask for them (`Call.show`), and attention follows at once. So
columns and keys cannot disagree, whatever their order, and layers of different kinds can share the
mask of a model that knows of one kind only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import torch

from .hf_release import masking_utils

__all__ = ["Call", "Offset", "install", "plain_rule"]

Tensor = torch.Tensor
KINDS = ("sdpa", "eager")


class Offset(int):
    """Where the columns begin, as the library asks for it, and the cache that they belong to."""

    cache: Any


@dataclass
class Call:
    """One forward of the model, as far as its layers have to know of it.

    ``start`` columns came before, ``tokens`` are new; ``real`` (batch, tokens) says which of these
    are no padding, None that all are; ``padding`` (batch, start + tokens) the same of all columns.
    """

    start: int
    tokens: int
    batch: int
    real: Tensor | None
    padding: Tensor | None
    masks: list[Tensor] = field(default_factory=list)
    begun: bool = False
    whole: int = 0  # columns that the masks show now, if they show all

    def waits_like(self, other: Call) -> bool:
        """Say whether this call, of the same tokens as the other, has met no layer yet."""
        mine, its = ((c.start, c.tokens, c.batch) for c in (self, other))
        return not self.begun and mine == its

    def positions(self, before: Tensor) -> Tensor:
        """Give the new tokens' positions, -1 for padding, after ``before`` (batch,) real ones."""
        if self.real is None:
            return before[:, None] + torch.arange(self.tokens, device=before.device)
        return torch.where(self.real, before[:, None] + self.real.cumsum(1) - 1, -1)

    def causal(self, device: torch.device) -> Tensor:
        """Say what each new token sees of all columns: (batch, tokens, start + tokens) bool."""
        columns = torch.arange(self.start + self.tokens, device=device)
        visible = (columns <= columns[self.start :, None])[None]
        if self.padding is not None:
            visible = visible & self.padding[:, None]
        return visible.expand(self.batch, -1, -1)

    def show(self, visible: Tensor) -> None:
        """Turn the masks that the model holds into this one: (batch, tokens, columns) bool."""
        for held in self.masks:
            mask = visible[:, None]
            if held.dtype != torch.bool:  # added to the scores
                least = torch.finfo(held.dtype).min
                mask = torch.where(mask, 0.0, least).to(held.dtype)
            held.set_(mask)  # type: ignore[call-overload]
        self.whole = 0

    def show_all(self, columns: int, device: torch.device) -> None:
        """Turn them into one that hides nothing; layers with as many columns share it."""
        if self.masks and self.whole != columns:
            shape = (self.batch, self.tokens, columns)
            self.show(torch.ones(shape, dtype=torch.bool, device=device))
            self.whole = columns


def blank(call: Call, dtype: torch.dtype, device: Any) -> Tensor:
    """Make a mask of a call that hides everything, and stays so until a layer shows its own."""
    nothing = False if dtype == torch.bool else torch.finfo(dtype).min
    one = torch.full((), nothing, dtype=dtype, device=device)
    mask = one.expand(call.batch, 1, call.tokens, call.start + call.tokens)
    call.masks.append(mask)
    return mask


def plain_rule(rule: Any) -> bool:
    """Say whether a rule of the library is that of causal attention, with or without a window."""
    causal = masking_utils.causal_mask_function
    if rule is causal:
        return True
    if not getattr(rule, "__qualname__", "").startswith("and_masks."):
        return False
    closed = dict(zip(rule.__code__.co_freevars, rule.__closure__, strict=True))
    parts = closed["mask_functions"].cell_contents if "mask_functions" in closed else ()
    others = [part.__qualname__ for part in parts if part is not causal]
    return causal in parts and all(name.startswith("sliding_window_overlay.") for name in others)


def install() -> None:
    """Let the library's mask functions ask a `RingCache` for its masks; once is enough."""
    registry = masking_utils.AttentionMaskInterface
    for kind in KINDS:
        function = registry._global_mapping[kind]
        if not hasattr(function, "asks_ring_caches"):
            registry.register(kind, _asking(function, kind))


def _asking(function: Callable[..., Any], kind: str) -> Callable[..., Any]:
    @wraps(function)
    def mask(*args: Any, **kwargs: Any) -> Any:
        offset = kwargs.get("kv_offset")
        if not isinstance(offset, Offset):
            return function(*args, **kwargs)
        dtype = torch.bool if kind == "sdpa" else kwargs["dtype"]
        return offset.cache.opened(dtype, kwargs)

    mask.asks_ring_caches = True  # type: ignore[attr-defined]
    return mask
