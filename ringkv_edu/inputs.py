"""Refuses what does not fit a ring, before anything is changed, and says what would."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["check_heads", "check_tokens", "count", "factor", "zeros"]

Array = npt.NDArray[Any]
DTYPES = ("float16", "float32", "float64")
MOST = 2**62  # so that positions never run out of int64


def count(name: str, value: Any, least: int) -> int:
    """Give a whole number that is at least ``least``."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; give a whole number") from None
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}; give a whole number")
    if not least <= number < MOST:
        limit = f"{least} or more" if number < least else "less than 2 ** 62"
        raise ValueError(f"{name} is {number}; give {limit}")
    return number


def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Make the storage of a ring, in one block of a dtype that a ring can store."""
    wanted = f"give one of {', '.join(DTYPES)}, in this machine's byte order"
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"dtype is {dtype!r}; {wanted}") from None
    if dtype is None or kind.name not in DTYPES or not kind.isnative or kind.subdtype:
        raise TypeError(f"dtype is {dtype if dtype is None else kind}; {wanted}")
    try:
        return np.zeros(shape, kind)
    except (ValueError, OverflowError, MemoryError):
        words = f"keys and values of shape {shape[1:]} do not fit into memory; give smaller sizes"
        raise ValueError(words) from None


def factor(scale: Any, like: Array) -> float:
    """Give what scores are multiplied by: ``scale``, or head_dim ** -0.5 for None."""
    if scale is None:
        return float(like.shape[2] ** -0.5)
    wide = np.result_type(like.dtype, np.float32)
    try:
        number = float(scale + 0)  # a text is no number, even one that float() could read
    except OverflowError:
        number = float("inf")
    except (TypeError, ValueError):
        raise TypeError(f"scale is {scale!r}; give a number or None") from None
    if not abs(number) <= float(np.finfo(wide).max):
        raise ValueError(f"scale is {scale}; give a finite number that {wide} can hold, or None")
    return number


def check_tokens(k: Any, v: Any, like: Array) -> tuple[Array, Array]:
    """Check keys and values (kv_heads, n, head_dim) against stored ones; give plain arrays.

    ``like`` is the storage (kv_heads, slots, head_dim). Raises ``TypeError`` for another dtype:
    a silent cast would hide what is lost.
    """
    for name, x in (("k", k), ("v", v)):
        expected = f"({like.shape[0]}, n, {like.shape[2]}) with n >= 1"
        _check_array(name, x, expected, like.dtype)
        if x.ndim != 3 or x.shape[::2] != like.shape[::2] or x.shape[1] == 0:
            raise ValueError(f"{name} has shape {x.shape}; give (kv_heads, n, head_dim) {expected}")
    if k.shape != v.shape:
        raise ValueError(f"k has {k.shape[1]} tokens and v has {v.shape[1]}; give as many of each")
    return np.asarray(k), np.asarray(v)


def check_heads(q: Any, like: Array, n: int | None = None) -> Array:
    """Check queries (heads, n, head_dim), or (heads, head_dim) when ``n`` is None."""
    kv_heads, _, head_dim = like.shape
    tail = (head_dim,) if n is None else (n, head_dim)
    names = "(heads, head_dim)" if n is None else "(heads, n, head_dim)"
    expected = f"{names} with heads a multiple of {kv_heads}, then {', '.join(map(str, tail))}"
    _check_array("q", q, expected, like.dtype)
    if q.shape[1:] != tail or q.shape[0] == 0 or q.shape[0] % kv_heads:
        raise ValueError(f"q has shape {q.shape}; give {expected}")
    return np.asarray(q)


def _check_array(name: str, x: Any, expected: str, dtype: np.dtype[Any]) -> None:
    if not isinstance(x, np.ndarray) or isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a {type(x).__name__}; give a NumPy array {expected}")
    if x.dtype != dtype:
        raise TypeError(
            f"{name} has dtype {x.dtype} and this ring stores {dtype}; "
            f"convert it first: {name}.astype({str(dtype)!r})"
        )
