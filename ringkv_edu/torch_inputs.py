"""Refuses what does not fit a torch ring, before anything is changed, and says what would.

Shapes, dtypes, devices and whole numbers are known to the host and always checked, and so are
values in CPU memory. Values on an accelerator are read only for a ring made with ``check=True``:
reading one makes the host wait for everything that was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import torch

from .inputs import count
from .rewind import RewindError, length_after_rewind
from .torch_bounds import hidden

__all__ = [
    "check_alike",
    "check_heads",
    "check_lengths",
    "check_rewind",
    "check_rows",
    "check_step",
    "check_tokens",
    "factor",
    "readable",
    "zeros",
]

Tensor = torch.Tensor
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
KINDS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
NAMES = ", ".join(str(dtype) for dtype in DTYPES)


def readable(x: Tensor, check: bool) -> bool:
    """Say whether the values of a tensor may be looked at."""
    return (x.device.type == "cpu" or (check and x.device.type != "meta")) and not hidden(x)


def zeros(shape: tuple[int, ...], dtype: Any, device: Any) -> Tensor:
    """Make storage of a dtype that a ring can hold, on a device that there is."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if dtype not in DTYPES:
        raise TypeError(f"dtype is {dtype!r}; give one of {NAMES}, or None")
    try:
        where = torch.get_default_device() if device is None else torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device is {device!r}; give one such as 'cpu' or 'cuda'") from error
    if where.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device is {device!r} and torch finds no CUDA device; give 'cpu'")
    try:
        with torch.inference_mode(False):  # or no later step could write into it
            return torch.zeros(shape, dtype=dtype, device=where)
    except (  # a device that this torch was built without raises the last two
        RuntimeError, TypeError, OverflowError, MemoryError, AssertionError, ImportError
    ) as error:  # fmt: skip
        raise ValueError(
            f"keys or values of shape {shape} cannot be made on {where} "
            f"({str(error).splitlines()[0][:120]}); give smaller sizes or another device"
        ) from error


def factor(scale: Any, head_dim: int) -> float:
    """Give what scores are multiplied by: ``scale``, or head_dim ** -0.5 for None."""
    if scale is None:
        return float(head_dim**-0.5)
    if isinstance(scale, bool) or not isinstance(scale, (float, Real)):
        raise TypeError(f"scale is {scale!r}; give a number of the host, or None")
    try:
        number = float(scale)
    except OverflowError:
        number = float("inf")
    if not abs(number) <= torch.finfo(torch.float32).max:
        raise ValueError(f"scale is {scale}; give a finite number that float32 can hold, or None")
    return number


def check_tokens(k: Any, v: Any, like: Tensor) -> None:
    """Check keys and values (batch, kv_heads, n, head_dim) against stored ones."""
    wanted = "(batch, kv_heads, n, head_dim)"
    _check_tensor("k", k, wanted, like)
    _check_tensor("v", v, wanted, like)
    given, stored = k.shape, like.shape
    fits = len(given) == 4 and given[:2] == stored[:2] and given[3] == stored[3]
    if fits and given[2] and given == v.shape:
        return
    batch, kv_heads, _, head_dim = stored
    wanted += f" ({batch}, {kv_heads}, n, {head_dim}) with n >= 1, the same for k and v"
    raise ValueError(f"k has shape {tuple(k.shape)} and v {tuple(v.shape)}; give {wanted}")


def check_heads(q: Any, like: Tensor, n: int) -> None:
    """Check queries (batch, heads, n, head_dim) against stored keys."""
    _check_tensor("q", q, "(batch, heads, n, head_dim)", like)
    given, stored = q.shape, like.shape
    fits = len(given) == 4 and given[0] == stored[0] and given[2:] == (n, stored[3])
    if fits and given[1] and given[1] % stored[1] == 0:
        return
    batch, kv_heads, _, head_dim = stored
    expected = f"({batch}, heads, {n}, {head_dim}) with heads a multiple of {kv_heads}"
    raise ValueError(f"q has shape {tuple(given)}; give (batch, heads, n, head_dim) {expected}")


def check_step(k: Any, v: Any, lengths: Any, padding: Any, ring: Any, *q: Any) -> Tensor | None:
    """Check what a ring is to store, and queries where there are some; give its lengths."""
    check_tokens(k, v, ring.keys)
    for queries in q:
        check_heads(queries, ring.keys, k.shape[2])
    if padding not in ("left", "right"):
        raise ValueError(f"padding is {padding!r}; give 'right' or 'left'")
    return check_lengths(lengths, k.shape[2], ring.keys, ring.check)


def check_lengths(lengths: Any, n: int, like: Tensor, check: bool) -> Tensor | None:
    """Check how many of n tokens are real in each row; give int64 (batch,) on the ring's device.

    Whole numbers in a list, or a tensor on the CPU or on the ring's device.
    """
    if lengths is None:
        return None
    given = _whole_numbers("lengths", lengths, like, like.shape[0])
    if readable(given, check) and not bool(((given >= 0) & (given <= n)).all()):
        raise ValueError(
            f"lengths are {given.tolist()}; give {like.shape[0]} numbers from 0 to {n}"
        )
    return _moved(given, like)


def check_rows(rows: Any, like: Tensor, check: bool) -> Tensor:
    """Check row numbers; give them as int64 (n,) on the ring's device."""
    batch = like.shape[0]
    if isinstance(rows, int) and not isinstance(rows, bool):
        rows = [rows]
    if isinstance(rows, torch.Tensor) and rows.dtype == torch.bool:
        raise TypeError("rows is a mask of bool; give row numbers, such as mask.nonzero()[:, 0]")
    given = _whole_numbers("rows", rows, like, None)
    if readable(given, check) and not bool(((given >= 0) & (given < batch)).all()):
        raise ValueError(f"rows are {given.tolist()}; this ring has rows 0 to {batch - 1}")
    return _moved(given, like)


def check_rewind(n: Any, ring: Any) -> Tensor:
    """Check how many tokens a ring is to take back; give the lengths that remain, int64 (batch,).

    ``n`` is a whole number, or as many as there are rows, in a list or a tensor. Raises
    ``RewindError`` when what a shorter row needs is no longer stored, as ``ringkv_edu.rewind`` says
    for one row.
    """
    seen, positions = ring.seen, ring.positions
    if isinstance(n, Iterable):  # a tensor, even one of a single number, a list
        n = n.expand(len(seen)) if isinstance(n, torch.Tensor) and n.ndim == 0 else n
        n = _moved(_whole_numbers("n", n, positions, len(seen)), seen)
    else:
        n = count("n", n, 0)
    length: Tensor = seen - n
    if not readable(positions, ring.check):
        held = None if hidden(seen) else ring._bounds.held()
        if held is not None and isinstance(n, int):  # all rows are alike, and the host knows them
            length_after_rewind(held, ring._bounds.cursor, n, ring.window, ring.sinks)
        return length.clamp(min=0).minimum(seen)
    needed = _needed(length, int(seen.max()), ring.window, ring.sinks)
    slots = ring._slots(needed).clamp(min=0)
    gone = (needed >= 0) & (positions.gather(1, slots) != needed)
    for row in (gone.any(1) | (length < 0) | (length > seen)).nonzero()[:1, 0].tolist():
        where = f"row {row}: " if len(seen) > 1 else ""
        now, back = int(seen[row]), int(seen[row] - length[row])
        if back < 0:
            raise ValueError(f"{where}n is {back}; give 0 or more")
        try:
            stored = positions[row].cpu().numpy()
            length_after_rewind(stored, now, back, ring.window, ring.sinks)
        except RewindError as error:
            raise RewindError(f"{where}{error}") from None
    return length


def _needed(length: Tensor, longest: int, window: int, sinks: int) -> Tensor:
    """Give what the next query of a text of each length may see, -1 where there is less."""
    first = torch.arange(min(sinks, longest), device=length.device).expand(len(length), -1)
    reach = torch.arange(min(window, longest), device=length.device)
    sunk = torch.where(first < length[:, None], first, -1)
    return torch.cat([sunk, length[:, None] - 1 - reach], dim=1)


def check_alike(kinds: list[dict[str, Any]]) -> None:
    """Check that rings to be stacked are of one kind: the same sizes, dtype and device."""
    for kind in kinds:
        for name, given in kind.items():
            if given != kinds[0][name]:
                raise ValueError(
                    f"the rings differ in {name} ({kinds[0][name]} and {given}); "
                    f"stack rings that differ in their rows alone"
                )


def _whole_numbers(name: str, numbers: Any, like: Tensor, size: int | None) -> Tensor:
    wanted = f"{'some' if size is None else size} whole numbers"
    if isinstance(numbers, Tensor):
        given = numbers
    else:
        try:
            listed = [count(name, number, -(2**62)) for number in numbers]
        except TypeError as error:
            raise TypeError(f"{name} is {numbers!r}; give {wanted} ({error})") from None
        given = torch.tensor(listed, dtype=torch.int64, device="cpu")
    if given.dtype not in KINDS:
        raise TypeError(f"{name} has dtype {given.dtype}; give {wanted}, such as torch.int64")
    if given.device.type not in ("cpu", like.device.type):
        raise TypeError(f"{name} is on {given.device} and this ring on {like.device}; move it")
    if given.ndim != 1 or (size is not None and len(given) != size):
        raise ValueError(f"{name} has shape {tuple(given.shape)}; give {wanted} in one row")
    return given


def _moved(numbers: Tensor, like: Tensor) -> Tensor:
    """Give whole numbers as int64 beside a ring; nobody waits until they are there."""
    moved: Tensor = numbers.to(like.device, torch.int64, non_blocking=True)
    return moved


def _check_tensor(name: str, x: Any, expected: str, like: Tensor) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} is a {type(x).__name__}; give a tensor {expected}")
    if x.dtype != like.dtype:
        raise TypeError(
            f"{name} has dtype {x.dtype} and this ring stores {like.dtype}; "
            f"convert it first: {name}.to({like.dtype})"
        )
    if x.device != like.device:
        raise TypeError(
            f"{name} is on {x.device} and this ring on {like.device}; "
            f"move it first: {name}.to({str(like.device)!r})"
        )
