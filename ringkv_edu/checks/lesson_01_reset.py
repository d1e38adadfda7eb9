"""Lesson 01, case file: resetting the ring for the next conversation."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given import RingFields, filled_ring, token, write_at_head
from .compare import plain
from .guard import call
from .lesson_01_write import fields
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["RESET"]

# case01-reset: the next conversation (after rasbt/LLMs-from-scratch#925)


def reset(ring: RingFields) -> None:
    """Bring a ring back to the state in which it was made."""
    vars(ring).update(vars(RingFields(ring.window_size)))


def _reset_except(*fields: str) -> Callable[[RingFields], None]:
    def mutant(ring: RingFields) -> None:
        kept = {name: vars(ring)[name] for name in fields}
        reset(ring)
        vars(ring).update(kept)

    return mutant


def _reset_a_copy(ring: RingFields) -> None:
    ring = RingFields(ring.window_size)


def _reset_cases(rng: Random) -> list[Case]:
    runs = [(4, 0), (4, 3), (4, 4), (4, 10), (rng.randrange(2, 7), rng.randrange(8, 20))]
    return [_reset_case(rng.random(), window, tokens) for window, tokens in runs]


def _reset_case(seed: float, window: int, tokens: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        rng = Random(seed)
        ring = filled_ring(window, range(tokens), rng)
        call(answer.reset, ring, may_change=(0,))
        after = {f"{name} after reset": plain(what) for name, what in fields(ring).items()}
        for position in range(2):  # the next conversation, by a writer that goes by head
            write_at_head(ring, *token(rng), position)
        after |= {f"{name}, two tokens later": what for name, what in fields(ring).items()}
        return {"window_size": ring.window_size, **after}

    return Case(f"window {window}, {tokens} tokens, then reset", run)


RESET = Exercise(
    id="case01-reset",
    names=("reset",),
    cases=_reset_cases,
    reference=answers(reset),
    mutants=(
        Mutant(
            "head-kept",
            "head stays where the last conversation left it: a writer that goes by head begins "
            "in the middle of the ring, and the reader looks at its start",
            answers(reset=_reset_except("head")),
        ),
        Mutant(
            "writes-kept",
            "insert_count stays: empty slots still name the writes of the last conversation",
            answers(reset=_reset_except("insert_count")),
        ),
        Mutant(
            "count-kept",
            "num_writes goes on counting from the last conversation",
            answers(reset=_reset_except("num_writes")),
        ),
        Mutant(
            "size-kept",
            "size stays: the empty ring says that it is full",
            answers(reset=_reset_except("size")),
        ),
        Mutant(
            "positions-kept",
            "old positions stay: their slots still pass every mask",
            answers(reset=_reset_except("positions")),
        ),
        Mutant(
            "storage-kept",
            "old keys and values stay in memory: what stands in an empty slot "
            "must never reach an output, and 0 times NaN is NaN",
            answers(reset=_reset_except("keys", "values")),
        ),
        Mutant(
            "a-copy",
            "nothing is stored in the caller's ring: it is as it was",
            answers(reset=_reset_a_copy),
        ),
    ),
)
