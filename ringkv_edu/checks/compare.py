"""Turns what an answer gave into plain data, compares it, and writes it on one line."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

__all__ = ["Foreign", "is_array", "kind", "plain", "same", "short"]

WIDEST = 76
MOST_TEXT = 500
MOST_ITEMS = 20_000  # of an iterator that may never end
SEQUENCES: tuple[type, ...] = (
    list,
    tuple,
    range,
    deque,
    Iterator,
    type({}.keys()),
    type({}.values()),
)
KINDS: tuple[tuple[type, str], ...] = (
    (bool, "True or False"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "a dict"),
)


@dataclass(frozen=True)
class Foreign:
    """Something that is no plain data: its type's name, and how it writes itself."""

    type_name: str
    text: str


def plain(value: Any) -> Any:
    """Give a value as None, bool, int, float, str, list, dict or ``Foreign``.

    Tuples, ranges, arrays, tensors and iterators become lists. Runs a learner's own methods, such
    as ``__repr__``, so it belongs inside ``guarded``; afterwards nothing of theirs runs any more.
    """
    if value is None or type(value) in (bool, int, float, str, Foreign):
        return value
    if isinstance(value, SEQUENCES):
        return [plain(item) for item in islice(cast(Iterable[Any], value), MOST_ITEMS)]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if is_array(value) and hasattr(value, "tolist"):
        return plain(value.tolist())
    return Foreign(type(value).__name__, repr(value)[:MOST_TEXT])


def is_array(value: Any) -> bool:
    """Say whether a value is NumPy's or torch's, without importing torch."""
    return type(value).__module__.partition(".")[0] in ("numpy", "torch")


def same(yours: Any, expected: Any) -> bool:
    """Say whether two pieces of plain data are equal.

    Numbers agree to a relative 1e-9 (an order of summation is not a mistake), whatever their
    type, and 1 and 0 may stand for ``True`` and ``False``.
    """
    if isinstance(yours, list) and isinstance(expected, list):
        pairs = zip(yours, expected, strict=False)
        return len(yours) == len(expected) and all(same(a, b) for a, b in pairs)
    if isinstance(yours, dict) and isinstance(expected, dict):
        return list(yours) == list(expected) and all(same(yours[k], expected[k]) for k in expected)
    if isinstance(yours, int | float) and isinstance(expected, int | float):
        return _close(yours, expected)
    return type(yours) is type(expected) and bool(yours == expected)


def kind(value: Any) -> str:
    """Name the type of plain data in plain words."""
    if isinstance(value, Foreign):
        name = value.type_name
        return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    return next((words for one, words in KINDS if isinstance(value, one)), "None")


def short(value: Any, width: int = WIDEST, digits: int = 6) -> str:
    """Write plain data on one line, cut at ``width`` characters."""
    text = " ".join(_text(value, digits).split())
    return text if len(text) <= width else text[: width - 2] + " …"


def _text(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        return "[" + ", ".join(_text(item, digits) for item in value) + "]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item, digits)}" for key, item in value.items())
    return value.text if isinstance(value, Foreign) else repr(value)


def _close(a: float, b: float) -> bool:
    try:
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    except OverflowError:  # a whole number too large for a float
        return a == b
