"""Lesson 03: right and wrong orders of attending and writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_attention import attend_at
from ..given_chunks import place
from ..given_numpy import RingArrays

Array = npt.NDArray[Any]
Step = Callable[[RingArrays, Array, Array, Array], Any]
Seen = tuple[Array, Array, Array, Array]  # asked from, held, keys, values


def step(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    """Store n tokens and give what each of their queries sees."""
    return attended(ring, q, *both(ring, k, v), then=(k, v))


def both(ring: RingArrays, k: Array, v: Array) -> Seen:
    """Gather the ring as it is and the chunk beside it."""
    new = np.arange(ring.seen, ring.seen + k.shape[1])
    held = np.concatenate([ring.positions, new])
    keys, values = (np.concatenate(pair, 1) for pair in ((ring.keys, k), (ring.values, v)))
    return new, held, keys, values


def attended(
    ring: RingArrays, q: Array, asked: Array, held: Array, keys: Array, values: Array, **do: Any
) -> Array:
    """Attend to what was gathered, and ``then`` write a chunk."""
    out = attend_at(asked, q, held, keys, values, ring.window, do.get("sinks", ring.sinks))
    if "then" in do:
        place(ring, *do["then"])
    return out


def gathering(change: Callable[[RingArrays, Array, Array, Array, Array], Seen]) -> Step:
    """Make a mutant that gathers something else; it attends and writes as it should."""

    def mutant(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
        return attended(ring, q, *change(ring, *both(ring, k, v)), then=(k, v))

    return mutant


def written_first(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked = np.arange(ring.seen, ring.seen + k.shape[1])
    place(ring, k, v)
    return attended(ring, q, asked, ring.positions, ring.keys, ring.values)


def twice(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked = np.arange(ring.seen, ring.seen + k.shape[1])
    place(ring, k, v)
    held = np.concatenate([ring.positions, asked])
    keys, values = (np.concatenate(pair, 1) for pair in ((ring.keys, k), (ring.values, v)))
    return attended(ring, q, asked, held, keys, values)


def seen_moved(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked, held, keys, values = both(ring, k, v)
    place(ring, k, v)
    return attended(ring, q, asked + k.shape[1], held, keys, values)


def all_after(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    place(ring, k, v)
    return attended(ring, q, *both(ring, k, v))


def last_only(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    return step(ring, q, k, v)[:, -1:]


def not_written(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    return attended(ring, q, *both(ring, k, v))


def no_return(ring: RingArrays, q: Array, k: Array, v: Array) -> None:
    step(ring, q, k, v)


def written_twice(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    out = step(ring, q, k, v)
    place(ring, k, v)
    return out


def no_sinks(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    return attended(ring, q, *both(ring, k, v), then=(k, v), sinks=0)


def window_is_slots(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked, held, keys, values = both(ring, k, v)
    out = attend_at(asked, q, held, keys, values, ring.slots, ring.sinks)
    place(ring, k, v)
    return out


def chunk_alone(ring: RingArrays, asked: Array, held: Array, keys: Array, values: Array) -> Seen:
    return asked, asked, keys[:, ring.slots :], values[:, ring.slots :]


def ring_alone(ring: RingArrays, asked: Array, held: Array, keys: Array, values: Array) -> Seen:
    return asked, ring.positions, keys[:, : ring.slots], values[:, : ring.slots]


def last_columns(ring: RingArrays, asked: Array, held: Array, keys: Array, values: Array) -> Seen:
    w = ring.window
    return asked, held[-w:], keys[:, -w:], values[:, -w:]


def chunk_cut(ring: RingArrays, asked: Array, held: Array, keys: Array, values: Array) -> Seen:
    cut = slice(ring.slots, max(ring.slots, keys.shape[1] - ring.window))
    return asked, np.delete(held, cut), np.delete(keys, cut, 1), np.delete(values, cut, 1)


def from_zero(ring: RingArrays, asked: Array, held: Array, keys: Array, values: Array) -> Seen:
    new = asked - asked[0]
    return new, np.concatenate([ring.positions, new]), keys, values


def positions_after(held_too: bool) -> Step:
    """Make a mutant that asks ``ring.seen`` too late, and perhaps what the slots hold."""

    def mutant(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
        _, _, keys, values = both(ring, k, v)
        held = ring.positions if held_too else ring.positions.copy()
        place(ring, k, v)
        new = np.arange(ring.seen, ring.seen + k.shape[1])
        return attended(ring, q, new, np.concatenate([held, new]), keys, values)

    return mutant


def held_after(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    asked, _, keys, values = both(ring, k, v)
    place(ring, k, v)
    return attended(ring, q, asked, np.concatenate([ring.positions, asked]), keys, values)


def seen_alone(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    out = not_written(ring, q, k, v)
    ring.seen += k.shape[1]
    return out


def window_written(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    out = not_written(ring, q, k, v)
    place(ring, k[:, -ring.window :], v[:, -ring.window :])
    return out


def along_axis_0() -> dict[str, Step]:
    """Make the mutants that count, or join, along axis 0."""

    def counting(tokens: Callable[[Array, Array], int], axis: int) -> Step:
        def mutant(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
            new = np.arange(ring.seen, ring.seen + tokens(q, k))
            held = np.concatenate([ring.positions, new])
            keys = np.concatenate([ring.keys, k], axis)
            values = np.concatenate([ring.values, v], axis)
            return attended(ring, q, new, held, keys, values, then=(k, v))

        return mutant

    return {
        "-joined": counting(lambda q, k: k.shape[1], 0),
        "-counted-q": counting(lambda q, k: q.shape[0], 1),
        "-counted-k": counting(lambda q, k: k.shape[0], 1),
    }


def values_from_keys(ring: RingArrays, asked: Array, held: Array, keys: Array, _: Array) -> Seen:
    return asked, held, keys, keys


def last_written(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    out = not_written(ring, q, k, v)
    place(ring, k[:, -1:], v[:, -1:])
    return out


def one_by_one_late(ring: RingArrays, q: Array, k: Array, v: Array) -> Array:
    rows = []
    for token in range(k.shape[1]):
        one = slice(token, token + 1)
        asked = np.array([ring.seen])
        rows.append(attended(ring, q[:, one], asked, ring.positions, ring.keys, ring.values))
        place(ring, k[:, one], v[:, one])
    return np.concatenate(rows, axis=1)
