"""Lesson 07: one attention layer of a decoder, over a ring."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ..given_rope import turned
from . import lesson_07_layer_mistakes as wrong
from .lesson_07_common import form_of, line_case
from .lesson_07_layer_mistakes import layer_step, not_turned
from .model import Case, Exercise, Mutant, answers

__all__ = ["LAYER"]


def _layer_cases(rng: Random) -> list[Case]:
    """Draw (tokens seen, window, sinks, dim, heads, kv_heads, head_dim, new tokens)."""
    sizes = [
        (0, 4, 0, 3, 1, 1, 2, 1), (0, 4, 0, 3, 1, 1, 2, 3), (6, 4, 0, 3, 1, 1, 2, 1),
        (9, 4, 0, 4, 4, 2, 2, 3), (3, 2, 0, 4, 2, 1, 4, 3), (5, 1, 0, 3, 2, 2, 2, 2),
        (14, 3, 2, 4, 2, 2, 4, 2),
    ]  # fmt: skip
    window = rng.randrange(3, 6)
    sizes.append(
        (window * rng.randrange(1, 5) + rng.randrange(1, window), window, 0, 5, 6, 3, 2, 2)
    )
    return [_layer_case(seed, *size) for seed, size in enumerate(sizes)]


def _layer_case(
    seed: int, seen: int, window: int, sinks: int, dim: int,
    heads: int, kv_heads: int, head_dim: int, new: int,
) -> Case:  # fmt: skip
    line = (
        f'rng = draw({seed}, "mo1"); layer = drawn_layer(rng, {dim}, {heads}, {kv_heads}, '
        f"{head_dim}); ring = filled_arrays({seen}, rng, {window}, {kv_heads}, {head_dim}, "
        f"{sinks}); outs = [layer_step(layer, ring, x) for x in numbers(rng, {new}, {dim})]"
    )

    def look(space: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, out in enumerate(space["outs"], 1):
            label = "result" if number == 1 else f"result {number}"
            form = form_of(out)
            found |= {label: form}
            if form == f"shape [{dim}]":
                found[f"{label}, the numbers"] = np.asarray(out)
        ring = space["ring"]
        memory = {name: getattr(ring, name) for name in ("positions", "seen", "keys", "values")}
        return {**found, **memory}

    return line_case(line, "layer_step", look, may_change=(1,))


LAYER = Exercise(
    id="mo1-layer",
    names=("layer_step",),
    cases=_layer_cases,
    reference=answers(layer_step),
    mutants=(
        Mutant(
            "at-the-slot",
            "queries and keys are turned to the slot: a slot is not a position, and from the "
            "first wrap on every distance is wrong",
            wrong.with_parts(at=lambda ring: ring.seen % ring.window),
        ),
        Mutant(
            "at-the-rank",
            "the count of tokens that the cache holds is taken for the position: it stops at the "
            "window, and `seen` goes on",
            wrong.with_parts(at=lambda ring: min(ring.seen, ring.slots)),
        ),
        Mutant(
            "at-the-last-rank",
            "the rank in the cache is taken for the position: it stops at W - 1, and the keys in "
            "the ring were turned to their true positions",
            wrong.with_parts(at=lambda ring: min(ring.seen, ring.slots - 1)),
        ),
        Mutant(
            "one-late",
            "queries and keys are turned one position too far: the next token is at `seen`",
            wrong.with_parts(at=lambda ring: ring.seen + 1),
        ),
        Mutant(
            "one-early",
            "queries and keys are turned one position too little: the next token is at `seen`",
            wrong.with_parts(at=lambda ring: ring.seen - 1),
        ),
        Mutant(
            "turned-after-writing",
            "the query is turned to `seen` after `write` has raised it: keep the position in a "
            "variable before you write",
            answers(layer_step=wrong.turned_after_writing),
        ),
        Mutant(
            "nothing-turned",
            "nothing is turned: the layer cannot tell near from far",
            wrong.with_parts(turns=(not_turned, not_turned, not_turned)),
        ),
        Mutant(
            "query-not-turned",
            "the key is turned and the query is not",
            wrong.with_parts(turns=(not_turned, turned, not_turned)),
        ),
        Mutant(
            "key-not-turned",
            "the query is turned and the key is not",
            wrong.with_parts(turns=(turned, not_turned, not_turned)),
        ),
        Mutant(
            "value-turned",
            "the value is turned, too: in a Llama-style model only queries and keys are",
            wrong.with_parts(turns=(turned, turned, turned)),
        ),
        Mutant(
            "turned-before-splitting",
            "all heads are turned as one long vector: each head is turned by itself, over its own "
            "head_dim numbers. Reshape first",
            answers(layer_step=wrong.turned_before_splitting),
        ),
        Mutant(
            "each-head-its-position",
            "each head is turned to a position of its own: all heads of a token stand at the same",
            answers(layer_step=wrong.each_head_its_position),
        ),
        Mutant(
            "attends-first",
            "the query attends before its token is written: it must see its own key, and an empty "
            "ring has none at all, which gives NaN",
            answers(layer_step=wrong.attends_before_writing),
        ),
        Mutant(
            "not-written",
            "the token is never written: `write` does that",
            answers(layer_step=wrong.not_written),
        ),
        Mutant(
            "counted-twice",
            "`seen` is raised twice: `write` raises it already",
            answers(layer_step=wrong.counted_twice),
        ),
        Mutant(
            "written-twice",
            "the token is written twice: `write` stores it and counts it",
            answers(layer_step=wrong.written_twice),
        ),
        Mutant(
            "swapped",
            "key and value are swapped: the order is write(ring, k, v)",
            answers(layer_step=wrong.swapped),
        ),
        Mutant(
            "key-of-the-query",
            "the key is made with the query's weights: layer.k makes keys",
            answers(layer_step=wrong.key_of_the_query),
        ),
        Mutant(
            "rows-and-columns",
            "the projected numbers are reshaped to (head_dim, heads): a row is one head, so it is "
            "(heads, head_dim)",
            wrong.with_parts(split=lambda x, heads, d: x.reshape(d, -1)),
        ),
        Mutant(
            "split-otherwise",
            "the projected numbers are split into heads in the wrong order: one head's head_dim "
            "numbers stand side by side, so it is reshape(heads, head_dim)",
            wrong.with_parts(split=lambda x, heads, d: x.reshape(d, heads).T),
        ),
        Mutant(
            "joined-otherwise",
            "the heads are joined in another order than they were split: one after the other",
            wrong.with_parts(join=lambda seen: seen.T.reshape(-1)),
        ),
        Mutant(
            "not-projected-out",
            "the heads are joined and not mixed: `layer.out @ ...` brings them back to dim numbers",
            answers(layer_step=wrong.not_projected_out),
        ),
        Mutant(
            "stream-added",
            "x is added to the result: the block does that, not the attention",
            answers(layer_step=wrong.stream_added),
        ),
        Mutant(
            "scaled-again",
            "the query is divided by the root of head_dim: `attended` does that already",
            answers(layer_step=wrong.scaled_again),
        ),
        Mutant("no-return", "nothing is returned", answers(layer_step=wrong.no_return)),
    ),
)
