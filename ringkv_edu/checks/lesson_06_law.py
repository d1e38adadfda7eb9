"""Lesson 06: window and summaries share out all positions, each once."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from . import lesson_06_law_mistakes as wrong
from .code_case import code_case
from .lesson_06_law_mistakes import query_sees, sharing
from .model import Case, Exercise, Mutant, answers

__all__ = ["LAW"]


def _law_cases(rng: Random) -> list[Case]:
    window, sinks, block = rng.randrange(2, 6), rng.randrange(1, 4), rng.randrange(2, 5)
    runs = [
        (9, 4, 0, 2),  # the table's
        (10, 4, 0, 2),  # a block that is still filling
        (3, 4, 0, 2),  # nothing has left
        (4, 4, 0, 2),  # one has
        (0, 1, 0, 3),
        (6, 1, 0, 3),  # a window of the query alone
        (5, 3, 0, 1),  # blocks of one
        (12, 4, 1, 3),
        (13, 3, 2, 4),
        (1, 4, 3, 2),  # fewer tokens than sinks
        (4, 3, 2, 2),  # a window that still has a sink in it
        (window + sinks + block + 1, window, sinks, block),
        (window + sinks + 3 * block - 1, window, sinks, block),
        (rng.randrange(20, 30), window, sinks + 1, block),
    ]
    return [_case(*run) for run in runs]


def _case(query: int, window: int, sinks: int, block: int) -> Case:
    line = f"query_sees({query}, {window}, {sinks}, {block})"
    case = code_case(f"out = {line}", "query_sees", lambda space: _look(space["out"]), given={})
    return replace(case, given=line)


def _look(out: Any) -> dict[str, Any]:
    if isinstance(out, tuple | list) and len(out) == 2:
        return {"exact": out[0], "blocks": out[1]}
    return {"result": out}


LAW = Exercise(
    id="ps3-law",
    names=("query_sees",),
    cases=_law_cases,
    reference=answers(query_sees),
    mutants=(
        Mutant(
            "hole",
            "a block is seen only once it is finished: until then its tokens are in no summary and "
            "no longer in the window",
            sharing(cutting=wrong.finished),
        ),
        Mutant(
            "waiting",
            "tokens stay exact until their block is finished: the window then needs more than W "
            "slots. The block that is being filled is a summary already",
            answers(query_sees=wrong.waiting),
        ),
        Mutant(
            "twice",
            "the blocks go on into the window: its tokens are counted twice",
            sharing(left=lambda q, w, s: range(s, q + 1)),
        ),
        Mutant(
            "border-lost",
            "the newest token that has left is in no block: position query - window is neither "
            "exact nor in a summary",
            sharing(left=lambda q, w, s: range(s, q - w)),
        ),
        Mutant(
            "border-twice",
            "the oldest token of the window is in a block, too: the last to have left is at "
            "position query - window",
            sharing(left=lambda q, w, s: range(s, q - w + 2)),
        ),
        Mutant(
            "both-at-border",
            "position query - window is exact and in a block, too: it has left the window",
            sharing(exactly=lambda q, w, s: wrong.exact(q, w + 1, s)),
        ),
        Mutant(
            "none-at-border",
            "the oldest token of the window is neither exact nor in a block: W counts the query "
            "itself, so it begins at query - window + 1",
            sharing(exactly=lambda q, w, s: wrong.exact(q, w - 1, s)),
        ),
        Mutant(
            "one-too-wide",
            "the window is one too wide: query - window has left it already",
            answers(query_sees=lambda q, w, s, b: query_sees(q, w + 1, s, b)),
        ),
        Mutant(
            "one-too-narrow",
            "the window is one too narrow: the query itself is one of its W tokens, so it begins "
            "at query - window + 1",
            answers(query_sees=lambda q, w, s, b: query_sees(q, w - 1, s, b)),
        ),
        Mutant(
            "wider-by-sinks",
            "the window is wider by the number of sinks: it is W tokens, and the sinks besides",
            answers(query_sees=wrong.wider_by_sinks),
        ),
        Mutant(
            "sinks-folded",
            "sinks are put into blocks: they stay exact for ever",
            sharing(left=lambda q, w, s: range(q - w + 1)),
        ),
        Mutant(
            "no-sinks",
            "sinks are neither in the window nor exact once they have left it",
            sharing(exactly=lambda q, w, s: wrong.exact(q, w, 0)),
        ),
        Mutant(
            "sinks-counted",
            "the sinks take up part of the window: W counts without them",
            sharing(exactly=wrong.sinks_in_window),
        ),
        Mutant(
            "sinks-twice",
            "a sink that is still in the window stands in the list twice",
            sharing(exactly=wrong.sinks_twice),
        ),
        Mutant(
            "later-sinks",
            "a sink that comes after the query is listed: a query sees nothing later than itself",
            sharing(exactly=wrong.later_sinks),
        ),
        Mutant(
            "no-limits",
            "the sinks and the window are joined as they are: early queries then get positions "
            "below 0, sinks later than themselves, and sinks twice",
            sharing(exactly=lambda q, w, s: [*range(s), *range(q - w + 1, q + 1)]),
        ),
        Mutant(
            "below-zero",
            "there are positions below 0 in the window of an early query",
            sharing(exactly=wrong.below_zero),
        ),
        Mutant(
            "unfinished-first",
            "the oldest block is the unfinished one: blocks fill in the order in which tokens "
            "leave, so the newest is",
            sharing(cutting=wrong.from_the_window),
        ),
        Mutant(
            "on-a-grid",
            "blocks begin at multiples of `block`: the first begins with the first token that is "
            "no sink",
            sharing(cutting=wrong.on_a_grid),
        ),
        Mutant(
            "one-block",
            "everything that left is in one summary: each takes `block` tokens",
            sharing(cutting=lambda some, block: wrong.cut(some, max(1, len(some)))),
        ),
        Mutant(
            "newest-block-first",
            "the newest block stands first: give the oldest first",
            sharing(cutting=lambda some, block: wrong.cut(some, block)[::-1]),
        ),
        Mutant(
            "not-cut",
            "the tokens that left stand in one flat list: give a list of lists, one for each block",
            sharing(cutting=lambda some, block: list(some)),  # type: ignore[arg-type, return-value]
        ),
        Mutant(
            "ends",
            "only the first and last member of each block are given: give all its members",
            sharing(cutting=wrong.ends),
        ),
        Mutant(
            "counts",
            "the number of members is given: give the members themselves",
            sharing(cutting=wrong.counts),
        ),
        Mutant(
            "swapped",
            "the blocks come first: give the exact positions, then the blocks",
            answers(query_sees=wrong.swapped),
        ),
    ),
)
