"""Compares what an answer gave with what was expected, and says the difference in one line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

__all__ = ["kind", "same", "short"]

WIDEST = 76
KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool,), "True or False"),
    ((int,), "a whole number"),
    ((float, complex), "a number"),
    ((str,), "a text"),
    ((list, tuple), "a list"),
    ((Mapping,), "a dict"),
)


def same(yours: Any, expected: Any) -> bool:
    """Say whether two pieces of plain data are equal.

    Numbers agree to a relative 1e-9 (an order of summation is not a mistake), whatever their
    type; a tuple may stand for a list, and any truth value for ``True`` and ``False``.
    """
    if _is_list(expected):
        yours = _as_list(yours)
        return (
            _is_list(yours)
            and len(yours) == len(expected)
            and all(same(a, b) for a, b in zip(yours, expected, strict=True))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(yours, Mapping)
            and list(yours) == list(expected)
            and all(same(yours[key], expected[key]) for key in expected)
        )
    if isinstance(expected, Number) and isinstance(yours, Number):
        return _close(yours, expected)
    return type(yours) is type(expected) and bool(yours == expected)


def kind(value: Any) -> str:
    """Name a value's type in plain words."""
    if value is None:
        return "None"
    for types, words in KINDS:
        if isinstance(value, types):
            return words
    return f"a {type(value).__name__}"


def short(value: Any, width: int = WIDEST) -> str:
    """Write plain data on one line, floats to six digits, cut at ``width`` characters."""
    text = _text(value)
    return text if len(text) <= width else text[: width - 2] + " …"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "[" + ", ".join(_text(x) for x in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(_text(x) for x in value) + ")"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(x)}" for key, x in value.items())
    return repr(value).replace("\n", " ")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _as_list(value: Any) -> Any:
    if isinstance(value, range):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, complex) or isinstance(b, complex):
        return bool(a == b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
