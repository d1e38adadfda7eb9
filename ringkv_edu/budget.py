"""What a cache weighs, what fits on a card, and how fast a step can be at best.

Bytes and bandwidths alone: every figure is arithmetic on a model's shape. A token's keys and values
take ``2 x layers x kv_heads x head_dim x bytes`` (source_audit.md, B4); a decode step reads the
weights once and the cache of each request, and cannot be faster than that reading (B7, D5).
Sizes are in bytes, times in seconds, bandwidths in bytes a second. GiB is 2^30, GB is 10^9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = [
    "GB", "GIB", "KIB", "MIB", "NUMBERS", "Card", "Model", "Plan", "Policy", "first_gain",
]  # fmt: skip

KIB, MIB, GIB, GB = 2**10, 2**20, 2**30, 10**9
NUMBERS = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "float8": 1.0, "int8": 1.0, "int4": 0.5}
"""Bytes of one number, scales and zero points not counted (``ringkv_edu.quantize`` counts them)."""


@dataclass(frozen=True)
class Model:
    """The shape of a decoder. ``windows`` gives each layer's window, None for a global layer.

    ``weights`` counts numbers, not bytes. ``source`` says where the figures are printed.
    """

    name: str
    heads: int
    kv_heads: int
    head_dim: int
    windows: tuple[int | None, ...]
    weights: int
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("heads", "kv_heads", "head_dim", "weights"):
            if getattr(self, name) < 1:
                raise ValueError(f"{self.name}: {name} is {getattr(self, name)}; give 1 or more")
        if not self.windows or any(w is not None and w < 1 for w in self.windows):
            raise ValueError(f"{self.name}: windows is {self.windows}; give one for each layer")
        if self.heads % self.kv_heads:
            raise ValueError(
                f"{self.name}: {self.heads} heads cannot share {self.kv_heads} key/value heads"
            )

    @property
    def layers(self) -> int:
        """How many layers it has."""
        return len(self.windows)

    @property
    def kind(self) -> str:
        """Multi-head, grouped-query or multi-query attention."""
        if self.kv_heads == self.heads:
            return "MHA"
        return "MQA" if self.kv_heads == 1 else "GQA"


@dataclass(frozen=True)
class Policy:
    """What is kept. ``window`` goes over the model's own; None leaves each layer as it is.

    ``summaries`` counts entries that stand for evicted tokens, each as large as a token.
    """

    window: int | None = None
    sinks: int = 0
    slack: int = 0
    summaries: int = 0

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1:
            raise ValueError(f"window is {self.window}; give 1 or more")
        for name in ("sinks", "slack", "summaries"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; give 0 or more")

    def entries(self, tokens: int, window: int | None, allocated: bool = False) -> int:
        """Count what one layer holds after ``tokens``; or the slots it takes from the start."""
        window = window if self.window is None else min(self.window, window or self.window)
        if window is None:
            return tokens
        slots = self.sinks + window + self.slack + self.summaries
        return slots if allocated else min(tokens, slots)


@dataclass(frozen=True)
class Card:
    """A device: its memory in bytes, and how many bytes it reads a second at best."""

    name: str
    memory: float
    bandwidth: float
    source: str = ""


@dataclass(frozen=True)
class Plan:
    """A model with a policy: ``cache`` and ``stored`` say as what numbers are kept.

    ``cache`` is the kind of a cached number, ``stored`` that of a weight: a name in ``NUMBERS``.
    """

    model: Model
    policy: Policy = Policy()
    cache: str = "float16"
    stored: str = "float16"

    def __post_init__(self) -> None:
        for kind in (self.cache, self.stored):
            if kind not in NUMBERS:
                raise ValueError(f"numbers of kind {kind!r} are unknown; give {', '.join(NUMBERS)}")

    @property
    def weight_bytes(self) -> float:
        """Bytes of all weights."""
        return self.model.weights * NUMBERS[self.stored]

    @property
    def token_bytes(self) -> float:
        """Bytes of one token's keys and values in all layers, before anything is evicted."""
        return self.entry_bytes * self.model.layers

    @property
    def entry_bytes(self) -> float:
        """Bytes of one token's keys and values in one layer."""
        return 2 * self.model.kv_heads * self.model.head_dim * NUMBERS[self.cache]

    def cache_bytes(self, tokens: int, batch: int = 1, allocated: bool = False) -> float:
        """Bytes of keys and values after ``tokens``, of each of ``batch`` requests.

        ``allocated`` counts a ring whole, as it takes its memory at once; a global layer grows.
        """
        if tokens < 0 or batch < 0:
            raise ValueError(f"tokens is {tokens}, batch {batch}; give 0 or more of each")
        entries = (self.policy.entries(tokens, w, allocated) for w in self.model.windows)
        return batch * self.entry_bytes * sum(entries)

    def step_seconds(self, card: Card, tokens: int, batch: int = 1) -> float:
        """The least time of a decode step: weights read once, and the cache of each request."""
        return (self.weight_bytes + self.cache_bytes(tokens, batch)) / card.bandwidth

    def room(self, card: Card, use: float = 0.9, overhead: float = 0) -> float:
        """Bytes left for caches on a share ``use`` of a card, under weights and ``overhead``."""
        if not 0 < use <= 1:
            raise ValueError(f"use is {use}; give a share of the card above 0, at most 1")
        return card.memory * use - self.weight_bytes - overhead

    def most_requests(
        self, card: Card, tokens: int, use: float = 0.9, overhead: float = 0, each: float = 0
    ) -> int:
        """How many requests of ``tokens`` fit; ``each`` is what one takes beside its cache."""
        one = self.cache_bytes(tokens) + each
        return max(0, int(self.room(card, use, overhead) // one)) if one else 0

    def longest_context(
        self, card: Card, batch: int = 1, use: float = 0.9, overhead: float = 0, most: int = 2**40
    ) -> int:
        """The most tokens that each of ``batch`` requests can have; ``most`` if nothing grows."""
        room = self.room(card, use, overhead)
        if self.cache_bytes(0, batch) > room or self.cache_bytes(1, batch) > room:
            return 0
        low, high = 1, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.cache_bytes(middle, batch) <= room:
                low = middle
            else:
                high = middle - 1
        return low

    def with_window(self, window: int | None) -> Plan:
        """Give the same plan with another window."""
        return replace(self, policy=replace(self.policy, window=window))

    def gain(self, other: Plan, card: Card, tokens: int, batch: int = 1) -> float:
        """How many times shorter a step is than ``other``'s, at the same batch."""
        return other.step_seconds(card, tokens, batch) / self.step_seconds(card, tokens, batch)

    def throughput_gain(self, other: Plan, card: Card, tokens: int, use: float = 0.9) -> float:
        """How many times more tokens a second than ``other``, each with all requests that fit."""
        return self._throughput(card, tokens, use) / other._throughput(card, tokens, use)

    def _throughput(self, card: Card, tokens: int, use: float) -> float:
        batch = self.most_requests(card, tokens, use)
        if not batch:
            raise ValueError(f"not one request of {tokens:,} tokens fits on {card.name}")
        return batch / self.step_seconds(card, tokens, batch)


def first_gain(
    plan: Plan, other: Plan, card: Card, wanted: float, lengths: Sequence[int], batch: int = 1
) -> int | None:
    """Give the first of some lengths at which ``plan`` is ``wanted`` times as fast, or none."""
    found = (n for n in lengths if plan.gain(other, card, n, batch) >= wanted)
    return next(found, None)
