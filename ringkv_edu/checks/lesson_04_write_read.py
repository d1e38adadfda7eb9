"""Lesson 04: reading keys that were turned when they were written, rightly and wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_numpy import RingArrays
from ..given_rope import turned
from .model import Mutant, answers

__all__ = ["READ_MUTANTS", "read"]

Array = npt.NDArray[Any]
Place = Callable[[RingArrays], Any]


def read(ring: RingArrays, q: Array) -> Array:
    """Give the scores of the newest token's query, (kv_heads, slots); -inf where empty."""
    return _scored(ring, q)


def _scored(
    ring: RingArrays,
    q: Array,
    query_at: Place = lambda ring: ring.seen - 1,
    keys_by: Place = lambda ring: 0,
    scale: Place = lambda ring: ring.keys.shape[2] ** -0.5,
    empty: float = -np.inf,
) -> Array:
    query = turned(q, query_at(ring))
    keys = turned(ring.keys, keys_by(ring))
    found = (keys * query[:, None]).sum(axis=2) * scale(ring)
    return np.where(ring.positions >= 0, found, empty)


def _wrong(name: str, sentence: str, **steps: Any) -> Mutant:
    return Mutant(name, sentence, answers(read=lambda ring, q: _scored(ring, q, **steps)))


def _in_order_of_time(ring: RingArrays, q: Array) -> Array:
    return read(ring, q)[:, np.argsort(ring.positions)]


def _softmax(ring: RingArrays, q: Array) -> Array:
    found = read(ring, q)
    weights = np.exp(found - found.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _none_for_empty(ring: RingArrays, q: Array) -> list[list[float | None]]:
    return [[x if np.isfinite(x) else None for x in row] for row in read(ring, q).tolist()]


def _in_place(ring: RingArrays, q: Array) -> Array:
    ring.keys = turned(ring.keys, ring.positions)
    return read(ring, q)


def _empties_dropped(ring: RingArrays, q: Array) -> Array:
    return read(ring, q)[:, ring.positions >= 0]


READ_MUTANTS = (
    _wrong(
        "read-by-rank",
        "the query is turned to its rank, the number of stored tokens less one: from the first "
        "wrap on it counts from another origin than the keys",
        query_at=lambda ring: min(ring.seen, ring.window) - 1,
    ),
    _wrong(
        "read-by-slot",
        "the query is turned to the slot of its token: the stored keys are turned to positions",
        query_at=lambda ring: (ring.seen - 1) % ring.window,
    ),
    _wrong(
        "read-by-slots",
        "the query is turned to the number of slots less one: its position is ring.seen - 1",
        query_at=lambda ring: ring.window - 1,
    ),
    _wrong(
        "read-by-count",
        "the query is turned to the number of stored tokens, which stops at window: its position "
        "is ring.seen - 1",
        query_at=lambda ring: min(ring.seen, ring.window),
    ),
    _wrong(
        "read-last-slot",
        "the last slot's token is taken for the newest: in a ring it may lie anywhere",
        query_at=lambda ring: ring.positions[-1],
    ),
    _wrong(
        "read-by-head",
        "each head's query is turned by the head's number: all heads of a token stand at one "
        "position",
        query_at=lambda ring: np.arange(ring.keys.shape[0]),
    ),
    _wrong(
        "read-not-turned",
        "the query is not turned: the stored keys are, and the query belongs to the newest token",
        query_at=lambda ring: 0,
    ),
    _wrong(
        "read-one-too-far",
        "the query is turned to ring.seen, one place too far: that is the position of the next "
        "token, and the newest one stored has ring.seen - 1",
        query_at=lambda ring: ring.seen,
    ),
    _wrong(
        "read-backwards",
        "the query is turned backwards, by minus its position",
        query_at=lambda ring: 1 - ring.seen,
    ),
    _wrong(
        "read-turned-again",
        "the keys are turned once more at reading, or the query is turned to each key's distance: "
        "the stored keys are turned already",
        keys_by=lambda ring: ring.positions,
    ),
    _wrong(
        "read-keys-to-slots",
        "the stored keys are turned once more, to their slots: they have to stay as they lie",
        keys_by=lambda ring: np.arange(ring.slots),
    ),
    _wrong(
        "read-keys-only",
        "the keys are turned once more at reading, and the query is not turned",
        query_at=lambda ring: 0,
        keys_by=lambda ring: ring.positions,
    ),
    _wrong(
        "read-turned-back",
        "the keys are turned back at reading: with the query turned to its position, they have "
        "to stay as they lie",
        keys_by=lambda ring: -ring.positions,
    ),
    _wrong(
        "read-empties-scored",
        "an empty slot gets the score 0, as the zeros in it do, and softmax gives that a weight: "
        "it must be -inf",
        empty=0.0,
    ),
    _wrong(
        "read-billion-for-empty",
        "an empty slot gets a large negative number: give -inf, -np.inf in code",
        empty=-1e9,
    ),
    _wrong(
        "read-no-scale",
        "the scores are not divided by sqrt(head_dim)",
        scale=lambda ring: 1.0,
    ),
    _wrong(
        "read-scale-d",
        "the scores are divided by head_dim, not by its square root",
        scale=lambda ring: 1 / ring.keys.shape[2],
    ),
    _wrong(
        "read-scale-slots",
        "the scale uses the number of slots, not head_dim: keys are (kv_heads, slots, head_dim)",
        scale=lambda ring: ring.slots**-0.5,
    ),
    _wrong(
        "read-scale-heads",
        "the scale uses the number of heads, which len(q) is here: q is (kv_heads, head_dim)",
        scale=lambda ring: ring.keys.shape[0] ** -0.5,
    ),
    Mutant(
        "read-zero-dropped",
        "position 0 is taken for empty: it is a real token",
        answers(read=lambda ring, q: np.where(ring.positions > 0, read(ring, q), -np.inf)),
    ),
    Mutant(
        "read-none-for-empty",
        "an empty slot gives None: give -inf, which softmax turns into the weight 0",
        answers(read=_none_for_empty),
    ),
    Mutant(
        "read-one-head",
        "the scores of head 0 alone are given: give one row for each head",
        answers(read=lambda ring, q: read(ring, q)[0]),
    ),
    Mutant(
        "read-attends",
        "attention is finished, up to the sum of values: here the scores are asked for",
        answers(read=lambda ring, q: np.einsum("hs,hsd->hd", _softmax(ring, q), ring.values)),
    ),
    Mutant(
        "read-first-head",
        "every head is scored with the query of head 0: q holds one vector for each head",
        answers(read=lambda ring, q: read(ring, 0 * q + q[0])),
    ),
    Mutant(
        "read-transposed",
        "the result is (slots, kv_heads): give one row for each head",
        answers(read=lambda ring, q: read(ring, q).T),
    ),
    Mutant(
        "read-in-order-of-time",
        "the scores stand in the order of the text: give them in slot order",
        answers(read=_in_order_of_time),
    ),
    Mutant(
        "read-empties-dropped",
        "empty slots are left out: give one score for each slot",
        answers(read=_empties_dropped),
    ),
    Mutant(
        "read-softmax",
        "the softmax is taken, too: here the scores are asked for",
        answers(read=_softmax),
    ),
    Mutant(
        "read-in-place",
        "reading changes the ring or q: both are needed again as they were",
        answers(read=_in_place),
    ),
)
