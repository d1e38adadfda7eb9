"""Whole torch rings: what is saved and loaded, some rows taken, several rings put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .inputs import count
from .rewind import check_positions
from .torch_inputs import check_alike

__all__ = ["from_state", "joined", "state_of", "with_rows"]

Tensor = torch.Tensor
SIZES, TENSORS = ("window", "sinks", "slack"), ("keys", "values", "positions", "seen")


def with_rows(ring: Any, rows: Tensor) -> Any:
    """Make a ring of copies of some rows."""
    if not len(rows):
        raise ValueError("rows is empty; a ring has one row or more")
    made = _filled(ring, [x.index_select(0, rows) for x in _tensors(ring)])
    made._bounds.join([ring._bounds])
    return made


def joined(rings: Iterable[Any], kind: type) -> Any:
    """Make a ring of copies of the rows of several."""
    rings = list(rings)
    if not rings or not all(isinstance(ring, kind) for ring in rings):
        raise TypeError(f"stack takes {kind.__name__}s, one or more")
    check_alike([_kind(ring) for ring in rings])
    parts = zip(*(_tensors(ring) for ring in rings), strict=True)
    made = _filled(rings[0], [torch.cat(part) for part in parts])
    made._bounds.join([ring._bounds for ring in rings])
    return made


def state_of(ring: Any) -> dict[str, Any]:
    """Copy everything a ring is."""
    sizes = {name: getattr(ring, name) for name in SIZES}
    return sizes | {n: x.clone() for n, x in zip(TENSORS, _tensors(ring), strict=True)}


@torch.no_grad()
def from_state(kind: Any, state: Any, device: Any) -> Any:
    """Make a ring of a state; raises ``ValueError`` or ``TypeError`` for one that no ring has."""
    _check_state(state)
    keys, window, sinks, slack = (state[name] for name in ("keys", *SIZES))
    batch, kv_heads, _, head_dim = keys.shape
    where = keys.device if device is None else device
    ring = kind(window, batch, kv_heads, head_dim, sinks, slack, keys.dtype, where)
    for name, own in zip(TENSORS, _tensors(ring), strict=True):
        given = state[name]
        if given.shape != own.shape or given.dtype != own.dtype:
            raise ValueError(
                f"{name} are {given.dtype} {tuple(given.shape)}; window {window}, sinks {sinks} "
                f"and slack {slack} make them {own.dtype} {tuple(own.shape)}. "
                f"Give a state_dict() as it is"
            )
        own.copy_(given)
    positions = state["positions"].cpu()
    for held, seen in zip(positions.numpy(), state["seen"].tolist(), strict=True):
        check_positions(held, count("seen", seen, 0), ring.window, ring.sinks, ring.slack)
    for x in (ring.keys, ring.values):
        x.masked_fill_((ring.positions < 0)[:, None, :, None], 0)
    ring._bounds.reach, ring._bounds.cursor = ring.slots, None
    ring._bounds.missing = ring.slots if bool((positions < 0).any()) else 0
    return ring


def _check_state(state: Any) -> None:
    """Check that a state has everything, as tensors that hold values."""
    if not isinstance(state, Mapping):
        raise TypeError(f"the state is a {type(state).__name__}; give a state_dict()")
    missing = [name for name in (*SIZES, *TENSORS) if name not in state]
    if missing:
        raise ValueError(f"the state lacks {', '.join(missing)}; give a state_dict()")
    for name in TENSORS:
        if not isinstance(state[name], Tensor):
            raise TypeError(f"{name} is a {type(state[name]).__name__}; give a tensor")
        if state[name].device.type == "meta":
            raise ValueError(f"{name} are on the meta device, where tensors hold no values")
    if state["keys"].ndim != 4:
        shape = tuple(state["keys"].shape)
        raise ValueError(f"keys have shape {shape}; give (batch, kv_heads, slots, head_dim)")


def _tensors(ring: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return ring.keys, ring.values, ring.positions, ring._seen


def _kind(ring: Any) -> dict[str, Any]:
    _, kv_heads, _, head_dim = ring.keys.shape
    sizes = {name: getattr(ring, name) for name in SIZES}
    heads = {"kv_heads": kv_heads, "head_dim": head_dim}
    return sizes | heads | {"dtype": ring.keys.dtype, "device": ring.keys.device}


def _filled(like: Any, tensors: list[Tensor]) -> Any:
    """Make a ring of one kind with the rows in these tensors."""
    kind = _kind(like)
    dtype, device = kind.pop("dtype"), kind.pop("device")
    batch = len(tensors[0])
    made = type(like)(batch=batch, dtype=dtype, device=device, check=like.check, **kind)
    with torch.no_grad():
        for own, given in zip(_tensors(made), tensors, strict=True):
            own.copy_(given)
    return made
