"""Whole torch rings: what is saved and loaded, some rows taken, several rings put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .inputs import count
from .rewind import check_positions
from .torch_bounds import Bounds
from .torch_inputs import check_alike

__all__ = ["RingView", "from_state", "joined", "state_of", "with_rows"]

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


class RingView:
    """What a ring tells of itself, and how it is copied and pickled."""

    keys: Tensor
    values: Tensor
    positions: Tensor
    window: int
    sinks: int
    slack: int
    _seen: Tensor
    _bounds: Bounds

    def _look(self) -> None:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in vars(self).items() if name not in ("_host", "_at")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with torch.inference_mode(False):  # or a copy made inside could not be written later
            own = {n: x.clone() if _frozen(x) else x for n, x in state.items()}
        vars(self).update(own)
        self._look()
        if _shared(self.keys):  # another process may write into it
            self._bounds.lose()

    @property
    def seen(self) -> Tensor:
        """Tokens ever appended to a row less those taken back, the next position: (batch,)."""
        return self._seen.clone()

    @property
    def size(self) -> Tensor:
        """Positions stored in each row now, sinks and slack included: (batch,)."""
        return (self.positions >= 0).sum(1)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values; each slot's position takes 8 more."""
        return self.keys.nbytes + self.values.nbytes

    def __repr__(self) -> str:
        batch, kv_heads, _, head_dim = self.keys.shape
        sizes = f"window={self.window}, batch={batch}, kv_heads={kv_heads}, head_dim={head_dim}"
        more = f"sinks={self.sinks}, slack={self.slack}, {self.keys.dtype}, {self.keys.device}"
        return f"<TorchRing {sizes}, {more}>"


def _frozen(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_inference()


def _shared(x: Tensor) -> bool:
    return x.is_cpu and x.is_shared()  # type: ignore[no-untyped-call]
