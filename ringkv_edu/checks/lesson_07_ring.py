"""Lesson 07: a ring with sinks, the learner's own class."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from . import lesson_07_ring_mistakes as wrong
from .lesson_07_common import line_case
from .lesson_07_ring_mistakes import MyModelRing
from .model import Case, Exercise, Mutant, answers

__all__ = ["RING"]


def _ring_cases(rng: Random) -> list[Case]:
    """Draw (window, kv_heads, head_dim, sinks, chunks). Another slot rule is no mistake."""
    runs: list[tuple[int, int, int, int, list[int]]] = [
        (4, 1, 1, 0, [1]), (4, 1, 1, 0, [1] * 6), (4, 1, 1, 2, [1] * 5), (4, 1, 1, 2, [1] * 11),
        (3, 2, 2, 1, [4, 1, 1]), (5, 1, 2, 3, [2, 3, 6]), (4, 1, 1, 3, [9]), (1, 1, 1, 2, [1] * 5),
        (3, 1, 1, 0, [2, 5, 1]),
    ]  # fmt: skip
    chunks = [rng.randrange(1, 5) for _ in range(rng.randrange(4, 7))]
    runs.append((rng.randrange(3, 6), 2, 2, rng.randrange(1, 5), chunks))
    return [_ring_case(seed, *run) for seed, run in enumerate(runs)]


def _ring_case(
    seed: int, window: int, kv_heads: int, head_dim: int, sinks: int, chunks: list[int]
) -> Case:
    line = (
        f'rng = draw({seed}, "mo5"); '
        f"ring = MyModelRing({window}, {kv_heads}, {head_dim}, {sinks}); "
        f"[ring.append(*numbers(rng, 2, {kv_heads}, n, {head_dim})) for n in {chunks}]"
    )
    return line_case(line, "MyModelRing", _look)


def _look(space: dict[str, Any]) -> dict[str, Any]:
    """Give what is stored, in order of the positions: where it lies is the learner's choice."""
    ring = space["ring"]
    held, keys, values = (np.asarray(x) for x in (ring.positions, ring.keys, ring.values))
    if keys.ndim != 3 or held.shape != keys.shape[1:2]:
        return {"positions and keys": [list(held.shape), list(keys.shape)]}
    filled = [int(slot) for slot in np.argsort(held, kind="stable") if held[slot] >= 0]
    stored = [int(held[slot]) for slot in filled]
    return {
        "slots": len(held),
        "positions stored": stored,
        "keys of these": keys[:, filled],
        "values of these": values[:, filled],
        "seen": ring.seen,
    }


RING = Exercise(
    id="mo5-ring",
    names=("MyModelRing",),
    cases=_ring_cases,
    reference=answers(MyModelRing),
    mutants=(
        Mutant(
            "no-sinks",
            "every slot is part of the ring: the first `sinks` tokens must never be overwritten",
            wrong.with_slot(lambda ring, p, t: p % (ring.sinks + ring.window)),
        ),
        Mutant(
            "window-slots-alone",
            "the ring goes round slots 0 to W - 1, sinks or not: the sinks are overwritten and the "
            "last slots stay empty",
            wrong.with_slot(lambda ring, p, t: p % ring.window),
        ),
        Mutant(
            "over-the-sinks",
            "the ring begins at slot 0, over the sinks: it begins behind them, at slot S",
            wrong.with_slot(wrong.over_the_sinks),
        ),
        Mutant(
            "never-wraps",
            "the position is taken as the slot: it runs past the end",
            wrong.with_slot(lambda ring, p, t: p),
        ),
        Mutant(
            "two-rules",
            "the ring is filled by one rule and goes round by another, so a token too new is "
            "overwritten: behind the sinks it is S + (p - S) % W from the start",
            wrong.with_slot(wrong.two_rules),
        ),
        Mutant(
            "newest-overwritten",
            "a full ring writes over its newest token, again and again",
            wrong.with_slot(wrong.newest_overwritten),
        ),
        Mutant(
            "sinks-of-each-chunk",
            "the first tokens of every chunk are taken for sinks: only the first of the text are",
            wrong.with_slot(wrong.sinks_of_each_chunk),
        ),
        Mutant(
            "sinks-in-the-window",
            "the sinks are taken out of the window: W slots go round behind them",
            wrong.with_slot(wrong.sinks_in_the_window),
        ),
        Mutant(
            "one-sink",
            "one token is kept, whatever `sinks` says",
            wrong.with_slot(
                lambda ring, p, t: p if p < 1 else 1 + (p - 1) % (ring.sinks + ring.window - 1)
            ),
        ),
        Mutant(
            "one-slot-short",
            "the ring goes round W - 1 slots: there are W behind the sinks",
            wrong.with_slot(
                lambda ring, p, t: (
                    p if p < ring.sinks else ring.sinks + (p - ring.sinks) % max(1, ring.window - 1)
                )
            ),
        ),
        Mutant("swapped", "keys and values are swapped", wrong.with_put(wrong.swapped)),
        Mutant(
            "slot-as-position",
            "the slot is stored as the position",
            wrong.with_put(wrong.slot_as_position),
        ),
        Mutant(
            "no-position",
            "the position is not stored: the slot still says -1, and a mask leaves it out",
            wrong.with_put(wrong.no_position),
        ),
        Mutant(
            "position-after",
            "the position is stored after `seen` was raised: it is one too large",
            wrong.with_put(wrong.position_after),
        ),
        Mutant(
            "first-head",
            "only the first key/value head is stored",
            wrong.with_put(wrong.first_head),
        ),
        Mutant(
            "first-token-alone",
            "only the first token of a chunk is stored: go through all n",
            wrong.with_append(wrong.first_token_alone),
        ),
        Mutant(
            "last-token-alone",
            "only the last token of a chunk is stored: go through all n",
            wrong.with_append(wrong.last_token_alone),
        ),
        Mutant(
            "one-a-head",
            "as many tokens are stored as there are heads: the tokens are the second axis, "
            "k.shape[1]",
            wrong.with_append(wrong.one_a_head),
        ),
        Mutant(
            "one-slice",
            "a chunk is written as one slice: it does not go round, and runs into the end",
            wrong.with_append(wrong.one_slice),
        ),
        Mutant(
            "seen-from-the-slot",
            "`seen` is taken from the slot: a slot is not a position, and the text goes on when "
            "the slots begin again",
            wrong.with_append(wrong.seen_from_the_slot),
        ),
        Mutant(
            "counted-twice",
            "a token's number in the chunk is added to `seen`, and `seen` is raised as well: one "
            "of the two",
            wrong.with_append(wrong.counted_twice),
        ),
        Mutant(
            "counted-once",
            "`seen` is raised once for a whole chunk: it counts tokens",
            wrong.with_append(wrong.counted_once),
        ),
        Mutant(
            "never-counted",
            "`seen` is not kept: it is the next token's position",
            wrong.with_append(wrong.never_counted),
        ),
        Mutant(
            "one-position-a-chunk",
            "all tokens of a chunk get the position of its first: raise `seen` after each",
            wrong.with_append(wrong.one_position_a_chunk),
        ),
        Mutant(
            "chunk-from-zero",
            "the number of a token in its chunk is taken for its position: the text goes on from "
            "`seen`",
            wrong.with_append(wrong.chunk_from_zero),
        ),
    ),
)
