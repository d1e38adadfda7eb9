"""Lesson 03: right and wrong masks of a chunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Test = Callable[[Array, Array, int, int], Array]  # (query column, key row, window, sinks) -> mask


def chunk_mask(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    """Give (n, slots + n) bool: which slots, and which of the chunk, each new token sees."""
    new = np.arange(seen, seen + n)
    return rule(new[:, None], np.concatenate([positions, new])[None, :], window, sinks)


def rule(query: Array, key: Array, window: int, sinks: int) -> Array:
    near: Array = (query - key < window) | (key < sinks)
    return (key >= 0) & (key <= query) & near


def seen_when(test: Test, first: Callable[[int], int] = lambda seen: seen) -> Any:
    """Make a chunk_mask from its test, and from the position that row 0 asks from."""

    def answer(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
        new = np.arange(seen, seen + n)
        query = np.arange(n)[:, None] + first(seen)
        return test(query, np.concatenate([positions, new])[None, :], window, sinks)

    return answer


def no_window(query: Array, key: Array, window: int, sinks: int) -> Array:
    return (key >= 0) & (key <= query)


def band_alone(query: Array, key: Array, window: int, sinks: int) -> Array:
    return (key <= query) & (query - key < window)


def first_bound(query: Array, key: Array, window: int, sinks: int) -> Array:
    near: Array = (query[0] - key < window) | (key < sinks)
    return (key >= 0) & (key <= query) & near


def last_bound(query: Array, key: Array, window: int, sinks: int) -> Array:
    near: Array = (query[-1] - key < window) | (key < sinks)
    return (key >= 0) & (key <= query) & near


def future(query: Array, key: Array, window: int, sinks: int) -> Array:
    return (key >= 0) & ((query - key < window) | (key < sinks))


def not_itself(query: Array, key: Array, window: int, sinks: int) -> Array:
    return rule(query, key, window, sinks) & (key < query)


def empty_seen(query: Array, key: Array, window: int, sinks: int) -> Array:
    return (key <= query) & ((query - key < window) | (key < sinks))


def zero_empty(query: Array, key: Array, window: int, sinks: int) -> Array:
    return rule(query, key, window, sinks) & (key > 0)


def precedence(query: Array, key: Array, window: int, sinks: int) -> Array:
    return (key >= 0) & (key <= query) & (query - key < window) | (key < sinks)


def joined_by_and(query: Array, key: Array, window: int, sinks: int) -> Array:
    near: Array = query - key < window or key < sinks
    return key >= 0 and key <= query and near


def later_sinks(query: Array, key: Array, window: int, sinks: int) -> Array:
    return rule(query, key, window, sinks) | ((key >= 0) & (key < sinks))


def one_more_sink(query: Array, key: Array, window: int, sinks: int) -> Array:
    return rule(query, key, window, sinks + 1)


def wider(by: int) -> Any:
    return seen_when(lambda query, key, window, sinks: rule(query, key, window + by, sinks))


def sinks_inside(query: Array, key: Array, window: int, sinks: int) -> Array:
    return rule(query, key, max(1, window - sinks), sinks)


def no_sinks(query: Array, key: Array, window: int, sinks: int) -> Array:
    return rule(query, key, window, 0)


def stored_sinks_only(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    old = chunk_mask(positions, seen, n, window, sinks)[:, : len(positions)]
    return np.hstack([old, chunk_mask(positions, seen, n, window, 0)[:, len(positions) :]])


def sinks_by_slot(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    mask = chunk_mask(positions, seen, n, window, 0)
    mask[:, :sinks] = True
    return mask


def by_column(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    columns = np.arange(len(positions) + n)
    return rule(columns[len(positions) :, None], columns[None, :], window, sinks)


def chunk_by_row(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    rows = np.arange(n)
    key = np.concatenate([positions, rows])[None, :]
    return rule(rows[:, None], key, window, sinks)


def chunk_columns_by_row(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    key = np.concatenate([positions, np.arange(n)])[None, :]
    return rule(np.arange(seen, seen + n)[:, None], key, window, sinks)


def put_in_order(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    return chunk_mask(np.sort(positions), seen, n, window, sinks)


def lone_token(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    mask = chunk_mask(positions, seen, n, window, sinks)
    return mask if n > 1 else np.ones_like(mask)


def to_be_added(*given: Any) -> Array:
    return np.where(chunk_mask(*given), 0.0, -np.inf)


def chunk_first(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    return np.roll(chunk_mask(positions, seen, n, window, sinks), n, axis=1)


def transposed(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
    return chunk_mask(positions, seen, n, window, sinks).T


def part(which: Callable[[int], slice]) -> Any:
    def answer(positions: Array, seen: int, n: int, window: int, sinks: int) -> Array:
        return chunk_mask(positions, seen, n, window, sinks)[:, which(len(positions))]

    return answer


def inverted(*given: Any) -> Array:
    return ~chunk_mask(*given)
