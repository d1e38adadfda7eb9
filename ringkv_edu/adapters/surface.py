"""What a class of rings must have to hold a model's keys, and how its arrays are read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

__all__ = ["as_stored", "check_maker", "checked", "emptied", "method", "names", "read"]

Tensor = torch.Tensor
NEEDED, SURFACE = ("window", "kv_heads", "head_dim"), ("keys", "values", "positions")


def check_maker(make: Any, sinks: int, slack: int) -> set[str]:
    """Give the names by which ``make`` takes sizes; refuse one that lacks what is needed."""
    if not callable(make):
        raise TypeError(f"make is a {type(make).__name__}; give a class or a function")
    takes = names(make)
    needed = [*NEEDED, *(["sinks"] if sinks else []), *(["slack"] if slack else [])]
    missing = [name for name in needed if name not in takes]
    if missing:
        raise TypeError(
            f"{getattr(make, '__name__', make)} does not take {', '.join(missing)} by name; "
            f"give a class or a function that takes {', '.join(needed)} (and batch, device and "
            f"dtype if it wants them)"
        )
    return takes


def names(function: Any) -> set[str]:
    """Give the parameters that a function takes by name."""
    try:
        named = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {p.name for p in named if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def checked(ring: Any, k: Tensor) -> Any:
    """Check once that a ring has what the cache reads, and of which shape."""
    name = type(ring).__name__
    missing = [] if callable(getattr(ring, "append", None)) else ["append(k, v)"]
    missing += [part for part in SURFACE if getattr(ring, part, None) is None]
    if missing:
        raise TypeError(
            f"{name} lacks {', '.join(missing)}; a ring for a model has append(k, v), keys, values "
            f"and positions from the start"
        )
    for part in SURFACE:
        if callable(getattr(ring, part)):
            raise TypeError(f"{name}.{part} is a method; make it an attribute or a property")
    stored, given = _dtype(ring.keys), k.dtype
    if torch.promote_types(stored, given) != stored:
        raise TypeError(
            f"{name} stores {stored} and the model computes in {given}; store {given}: let it take "
            f"`dtype` and `device` by name, or make it so in `make`"
        )
    read(ring, k)
    return ring


def read(ring: Any, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Give keys, values and positions as tensors of the model's dtype; no copy if they are that."""
    parts = [torch.as_tensor(getattr(ring, part)) for part in SURFACE]
    keys, values, positions = parts
    batch, kv_heads, _, head_dim = like.shape
    one, all_rows = f"({kv_heads}, slots, {head_dim})", f"({batch}, {kv_heads}, slots, {head_dim})"
    rows = [batch] if keys.ndim == 4 else []
    if keys.ndim not in (3, 4) or [*keys.shape[:-2], keys.shape[-1]] != [*rows, kv_heads, head_dim]:
        raise ValueError(
            f"keys of {type(ring).__name__} have shape {tuple(keys.shape)}; give {one} for one "
            f"sequence or {all_rows} for the batch"
        )
    slots = keys.shape[-2]
    if values.shape != keys.shape:
        raise ValueError(f"values have shape {tuple(values.shape)}, keys {tuple(keys.shape)}")
    positions = positions if positions.numel() else positions.long()  # such as an empty list
    if positions.is_floating_point() or tuple(positions.shape) not in ((slots,), (*rows, slots)):
        raise ValueError(
            f"positions are {positions.dtype} {tuple(positions.shape)}; give whole numbers "
            f"{(*rows, slots)}, one for each slot of keys, -1 where a slot is empty"
        )
    where = like.device
    return keys.to(where, like.dtype), values.to(where, like.dtype), positions.to(where).long()


def as_stored(x: Tensor, keys: Any) -> Any:
    """Give tokens as an array of the ring's own kind; its dtype holds them exactly."""
    x = x.detach()
    if isinstance(keys, Tensor):
        return x.to(keys.device, keys.dtype)
    x = x.float() if x.dtype == torch.bfloat16 else x  # which NumPy does not know
    return x.cpu().numpy().astype(np.asarray(keys).dtype, copy=False)


def _dtype(keys: Any) -> torch.dtype:
    if isinstance(keys, Tensor):
        return keys.dtype
    return torch.as_tensor(np.empty(0, np.asarray(keys).dtype)).dtype


def emptied(ring: Any, make: Callable[[], Any]) -> Any:
    """Give a ring that holds nothing: by its own ``reset``, or a new one."""
    if not callable(getattr(ring, "reset", None)):
        return make()
    ring.reset()
    return ring


def method(ring: Any, name: str, why: str) -> Any:
    """Give a method that not every ring has."""
    found = getattr(ring, name, None)
    if not callable(found):
        raise TypeError(f"{why} needs {type(ring).__name__}.{name}, which it does not have")
    return found
