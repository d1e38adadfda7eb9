"""What any cache can be asked, one's own included: how many tokens it holds, in what room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..policies import Policy

__all__ = ["capacity_of", "counts_of", "declared", "held", "reserved"]

Tensor = torch.Tensor
DEPTH = 3  # how far inside a cache its tensors are looked for


def held(cache: Any) -> int | None:
    """Say how many tokens the first row of a cache holds exactly; None when it cannot be known."""
    for thing in (cache, getattr(cache, "ring", None)):
        positions = getattr(thing, "positions", None)
        if isinstance(positions, Tensor):
            row = positions if positions.ndim == 1 else positions[0]
            row = row if row.ndim == 1 else row[0]  # per key head: as many in each
            return int((row >= 0).sum())
    length = getattr(cache, "length", None)
    return length if isinstance(length, int) else None


def counts_of(cache: Any) -> list[int] | None:
    """Give how many tokens each summary of the first row stands for; None without summaries."""
    counts = getattr(cache, "counts", None)
    if not isinstance(counts, Tensor):
        return None
    row: list[int] = (counts if counts.ndim == 1 else counts[0]).tolist()
    return [n for n in row if n]


def reserved(caches: Sequence[Any]) -> int:
    """Give the bytes of all storage that caches keep alive, each once: what memory really pays.

    A view of the last tokens of a long tensor keeps all of it.
    """
    found: dict[int, int] = {}
    for cache in caches:
        for x in _tensors(cache, DEPTH):
            storage = x.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
    return sum(found.values())


def _tensors(thing: Any, depth: int) -> Iterator[Tensor]:
    if isinstance(thing, torch.nn.Parameter):
        return  # weights are not the cache's
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, list | tuple):
        for one in thing:
            yield from _tensors(one, depth)
    elif isinstance(thing, dict):
        yield from _tensors(list(thing.values()), depth)
    elif depth and hasattr(thing, "__dict__") and not isinstance(thing, torch.nn.Module | type):
        yield from _tensors(list(vars(thing).values()), depth - 1)


def declared(policy: Policy) -> dict[str, Any]:
    """Give what a policy says of itself: its name and sizes."""
    sizes = {k: v for k, v in vars(policy).items() if isinstance(v, int | float | str)}
    return {"policy": policy.name, **sizes}


def capacity_of(policy: dict[str, Any]) -> int | None:
    """Give how many exact tokens a policy says it keeps; None when it keeps all."""
    if "window" in policy:
        return int(policy["window"]) + int(policy.get("sinks", 0)) + int(policy.get("slack", 0))
    return int(policy["budget"]) if "budget" in policy else None
