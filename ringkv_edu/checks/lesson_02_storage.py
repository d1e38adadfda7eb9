"""Lesson 02: the storage of a ring, made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np

from .code_case import code_case
from .lesson_02_attention import Array
from .message import RESULT
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["STORAGE"]

Storage = tuple[Array, Array, Array]
NAMES = ("keys", "values", "positions")
BEFORE = 9  # more blocks than NumPy keeps of one size, so that np.empty gets one of them


def make_storage(window: int, kv_heads: int, head_dim: int) -> Storage:
    """Give keys and values of zeros, and positions of -1."""
    shape = (kv_heads, window, head_dim)
    return np.zeros(shape), np.zeros(shape), np.full(window, -1)


def _storage_with(
    shape: Callable[[int, int, int], tuple[int, ...]] = lambda w, h, d: (h, w, d),
    fill: float = 0.0,
    positions: Callable[[int, int], Any] = lambda w, h: np.full(w, -1),
) -> dict[str, Any]:
    """Make a mutant: another shape, another filling, other positions."""

    def mutant(window: int, kv_heads: int, head_dim: int) -> Storage:
        keys, values = (np.full(shape(window, kv_heads, head_dim), fill) for _ in range(2))
        return keys, values, positions(window, kv_heads)

    return answers(make_storage=mutant)


def _aliased(window: int, kv_heads: int, head_dim: int) -> Storage:
    keys, _, positions = make_storage(window, kv_heads, head_dim)
    return keys, keys, positions


def _positions_first(window: int, kv_heads: int, head_dim: int) -> Storage:
    keys, values, positions = make_storage(window, kv_heads, head_dim)
    return positions, keys, values


def _not_a_tuple(second: str) -> dict[str, Any]:
    """Make a mutant that gives np.zeros three sizes; the second is the one that NumPy names."""

    def mutant(window: int, kv_heads: int, head_dim: int) -> Storage:
        zeros: Any = np.zeros
        sizes = {"window": window, "kv_heads": kv_heads, "head_dim": head_dim}
        first, *_, last = (size for name, size in sizes.items() if name != second)
        keys, values = (zeros(first, sizes[second], last) for _ in range(2))
        return keys, values, np.full(window, -1)

    return answers(make_storage=mutant)


def _storage_cases(rng: Random) -> list[Case]:
    sizes = [(4, 2, 3), (1, 1, 1), (3, 1, 2), (5, 3, 2)]
    sizes += [(rng.randrange(6, 9), rng.randrange(2, 5), rng.randrange(2, 6))]
    return [_storage_case(*size) for size in sizes]


def _storage_case(window: int, kv_heads: int, head_dim: int) -> Case:
    line = f"storage = make_storage({window}, {kv_heads}, {head_dim})"
    used = [np.full((kv_heads, window, head_dim), np.nan) for _ in range(BEFORE)]

    def look(space: dict[str, Any]) -> dict[str, Any]:
        storage = space["storage"]
        if storage is None:
            return {RESULT: None}
        if not isinstance(storage, tuple | list):
            return {"storage": storage}
        if len(storage) != 3:
            return {"storage": [_kind(what) for what in storage]}
        seen: dict[str, Any] = {RESULT: ", ".join(NAMES)}
        seen |= {name: _kind(what) for name, what in zip(NAMES, storage, strict=True)}
        if not all(isinstance(what, np.ndarray) for what in storage):
            return seen
        keys, values, positions = storage
        seen["stored positions"] = positions
        seen["numbers in keys and values that are not 0"] = [
            int(np.count_nonzero(keys != 0)),
            int(np.count_nonzero(values != 0)),
        ]
        keys[...] = 7.0
        seen["sum of the values, after every key was set to 7"] = float(values.sum())
        return seen

    case = code_case(line, "make_storage", look)

    def run(answer: Answer) -> Mapping[str, Any]:
        blocks = [block.copy() for block in used]  # memory that was in use before, ...
        del blocks  # ... and that np.empty now finds as it was left
        return case.run(answer)

    return Case(line, run)


def _kind(what: Any) -> str:
    if not isinstance(what, np.ndarray):
        return f"a {type(what).__name__}"
    whole = np.issubdtype(what.dtype, np.signedinteger)
    return f"array of shape {what.shape}, {'whole numbers' if whole else what.dtype}"


STORAGE = Exercise(
    id="np1-storage",
    names=("make_storage",),
    cases=_storage_cases,
    reference=answers(make_storage),
    mutants=(
        Mutant(
            "positions-zero",
            "positions start as zeros: every empty slot then claims to hold position 0",
            _storage_with(positions=lambda w, h: np.zeros(w, dtype=int)),
        ),
        Mutant(
            "garbage",
            "np.empty is used as it is: it holds whatever that memory held before",
            _storage_with(fill=np.nan),
        ),
        Mutant(
            "slots-first",
            "the slots are the first axis: the order is (kv_heads, slots, head_dim)",
            _storage_with(shape=lambda w, h, d: (w, h, d)),
        ),
        Mutant(
            "slots-last",
            "the slots are the last axis: the order is (kv_heads, slots, head_dim)",
            _storage_with(shape=lambda w, h, d: (h, d, w)),
        ),
        Mutant(
            "no-heads",
            "the axis of the key/value heads is forgotten",
            _storage_with(shape=lambda w, h, d: (w, d)),
        ),
        *(
            Mutant(
                f"not-a-tuple-{second}",
                "the shape is not a tuple: np.zeros takes one shape, in brackets of its own",
                _not_a_tuple(second),
            )
            for second in ("window", "kv_heads", "head_dim")
        ),
        Mutant(
            "aliased",
            "keys and values are one and the same array: what is written to one shows in the other",
            answers(make_storage=_aliased),
        ),
        Mutant(
            "float-positions",
            "positions are floats: a position is a whole number, and is compared as one",
            _storage_with(positions=lambda w, h: np.full(w, -1.0)),
        ),
        Mutant(
            "zero-floats",
            "positions are np.zeros: floats, and every empty slot claims to hold position 0",
            _storage_with(positions=lambda w, h: np.zeros(w)),
        ),
        Mutant(
            "positions-per-head",
            "every head has positions of its own: a token stands in the same slot in all heads",
            _storage_with(positions=lambda w, h: np.full((h, w), -1)),
        ),
        Mutant(
            "numbered",
            "positions are the slots' own numbers: nothing is stored yet, so all of them are -1",
            _storage_with(positions=lambda w, h: np.arange(w)),
        ),
        Mutant(
            "minus-one-everywhere",
            "keys and values start as -1, too: only positions do, keys and values hold zeros",
            _storage_with(fill=-1.0),
        ),
        Mutant(
            "one-more-slot",
            "there is one slot too many: the window counts the query itself",
            _storage_with(
                shape=lambda w, h, d: (h, w + 1, d), positions=lambda w, h: np.full(w + 1, -1)
            ),
        ),
        Mutant(
            "other-order",
            "the three come back in another order: keys, values, positions",
            answers(make_storage=_positions_first),
        ),
    ),
)
