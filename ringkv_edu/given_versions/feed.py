"""Feeds caches, and tries tests on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["fed", "in_order", "tried"]


def tried(test: Callable[[Any], object], cache_class: Any) -> str:
    """Say whether a test refuses a class: it does when it raises, whatever that is."""
    try:
        test(cache_class)
    except Exception:
        return "refused"
    return "accepted"


def fed(cache: Any, chunks: Sequence[int]) -> list[list[Any]]:
    """Give a cache the tokens 0, 1, 2, ... in chunks; give what each saw, in order of tokens."""
    rows: list[list[Any]] = []
    for n in chunks:
        tokens = list(range(len(rows), len(rows) + n))
        rows += [in_order(row) for row in cache.step(tokens)]
    return rows


def in_order(row: Any) -> list[Any]:
    """Sort what was seen; what is no number goes first."""
    return sorted(row, key=lambda token: (token is not None, token))
