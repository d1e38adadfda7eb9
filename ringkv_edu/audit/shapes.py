"""Plans and cards that several rows reckon with, as the articles describe them."""

from __future__ import annotations

from dataclasses import replace

from ..budget import GB, Card, Model, Plan
from ..budget_presets import CARDS, MODELS

__all__ = ["CARD", "HALF", "SEVEN", "THIRTEEN", "K", "read_ms", "room_for", "scores", "wide"]

K = 1024
HALF = 2  # bytes of a float16
SEVEN = Plan(MODELS["llama-2-7b"])
THIRTEEN = Plan(replace(MODELS["llama-2-13b"], weights=13 * 10**9))  # 26 GB, as article B has it
CARD = CARDS["article-80gb"]


def wide(layers: int, width: int, weights: int = 1) -> Plan:
    """Give a plan for a model described by its layers and its width, with heads of 128."""
    heads = width // 128
    return Plan(Model(f"{layers} layers of {width}", heads, heads, 128, (None,) * layers, weights))


def room_for(plan: Plan, gigabytes: float) -> Card:
    """Give a card that has so many GB left beside the weights."""
    return Card(f"{gigabytes} GB beside the weights", plan.weight_bytes + gigabytes * GB, GB)


def read_ms(plan: Plan, tokens: int, card: Card = CARD) -> float:
    """Give the milliseconds that reading the cache alone takes."""
    return 1e3 * plan.cache_bytes(tokens) / card.bandwidth


def scores(tokens: int, window: int | None = None) -> int:
    """Count the scores of a causal prefill, for one head: what each query sees, summed."""
    most = tokens if window is None else min(window, tokens)
    return most * (most + 1) // 2 + (tokens - most) * most
