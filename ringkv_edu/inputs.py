"""Refuses what does not fit a ring, before anything is changed, and says what would."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["check_heads", "check_tokens", "count", "factor", "float_dtype"]

DTYPES = ("float16", "float32", "float64")


def count(name: str, value: Any, least: int) -> int:
    """Give a whole number that is at least ``least``."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; give a whole number") from None
    if number < least:
        raise ValueError(f"{name} is {number}; give {least} or more")
    return number


def float_dtype(given: npt.DTypeLike) -> np.dtype[Any]:
    """Give the dtype, if it is one that a ring can store."""
    try:
        dtype = np.dtype(given)
    except TypeError:
        raise TypeError(f"dtype is {given!r}; give one of {', '.join(DTYPES)}") from None
    if dtype.name not in DTYPES:
        raise TypeError(f"dtype is {dtype.name}; give one of {', '.join(DTYPES)}")
    return dtype


def factor(scale: Any, head_dim: int) -> float:
    """Give what scores are multiplied by: ``scale``, or ``head_dim ** -0.5`` for None."""
    if scale is None:
        return float(head_dim**-0.5)
    try:
        number = float(scale)
    except (TypeError, ValueError):
        raise TypeError(f"scale is {scale!r}; give a number or None") from None
    if not math.isfinite(number):
        raise ValueError(f"scale is {number}; give a finite number or None")
    return number


def check_tokens(k: Any, v: Any, like: npt.NDArray[Any]) -> int:
    """Check keys and values (kv_heads, n, head_dim) against stored ones; give n.

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
    return int(k.shape[1])


def check_heads(q: Any, like: npt.NDArray[Any], n: int | None = None) -> None:
    """Check queries (heads, n, head_dim), or (heads, head_dim) when ``n`` is None."""
    kv_heads, _, head_dim = like.shape
    names, tail = ("(heads, head_dim)", (head_dim,)) if n is None else (
        "(heads, n, head_dim)", (n, head_dim))  # fmt: skip
    expected = f"{names} with heads a multiple of {kv_heads}, then {', '.join(map(str, tail))}"
    _check_array("q", q, expected, like.dtype)
    if q.shape[1:] != tail or q.shape[0] == 0 or q.shape[0] % kv_heads:
        raise ValueError(f"q has shape {q.shape}; give {expected}")


def _check_array(name: str, x: Any, expected: str, dtype: np.dtype[Any]) -> None:
    if not isinstance(x, np.ndarray):
        raise TypeError(f"{name} is a {type(x).__name__}; give a NumPy array {expected}")
    if x.dtype != dtype:
        raise TypeError(
            f"{name} has dtype {x.dtype} and this ring stores {dtype}; "
            f"convert it first: {name}.astype({str(dtype)!r})"
        )
