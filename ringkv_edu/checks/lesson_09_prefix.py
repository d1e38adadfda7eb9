"""Lesson 09: the longest prefix that need not be computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from random import Random
from typing import Any

from .lesson_09_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["PREFIX"]

Held = Sequence[int]
Needed = Callable[[int, int], int]  # window, size


def prefix_hit(held: Held, size: int, window: int | None) -> int:
    """Give how many tokens at the start need not be computed again, in one kind of layer."""
    return _longest(held, size, window)


def hybrid_hit(everything: Held, sliding: Held, size: int, window: int) -> int:
    """Give the same for a model with both kinds of layers."""
    reach = prefix_hit(everything, size, None) // size
    return prefix_hit(sliding[:reach], size, window)


def _needed(window: int, size: int) -> int:
    """Count the blocks that W - 1 tokens before a page's edge lie in."""
    return ceil((window - 1) / size)


def _usable(held: Held, blocks: int, size: int, window: int | None, needed: Needed) -> bool:
    first = 0 if window is None else max(0, blocks - needed(window, size))
    return all(held[first:blocks])


def _longest(held: Held, size: int, window: int | None, needed: Needed = _needed) -> int:
    lengths = range(len(held), -1, -1)
    return next(size * n for n in lengths if _usable(held, n, size, window, needed))


def _with_needed(needed: Needed) -> dict[str, Any]:
    return _with_hit(lambda held, size, window: _longest(held, size, window, needed))


def _with_hit(hit: Callable[[Held, int, int | None], int]) -> dict[str, Any]:
    """Change ``prefix_hit``; an answer to the second question that calls it, changes with it."""

    def both(everything: Held, sliding: Held, size: int, window: int) -> int:
        return hit(sliding[: hit(everything, size, None) // size], size, window)

    return answers(prefix_hit=hit, hybrid_hit=both)


def _with_both(both: Callable[[Held, Held, int, int], int]) -> dict[str, Any]:
    return answers(hybrid_hit=both)


def _shortest(held: Held, size: int, window: int | None) -> int:
    if window is None:
        return prefix_hit(held, size, None)
    lengths = range(1, len(held) + 1)
    return next((size * n for n in lengths if _usable(held, n, size, window, _needed)), 0)


def _full_window_only(held: Held, size: int, window: int | None) -> int:
    if window is None:
        return prefix_hit(held, size, None)
    least = _needed(window, size)
    lengths = range(len(held), least - 1, -1)
    return next((size * n for n in lengths if _usable(held, n, size, window, _needed)), 0)


def _in_blocks(held: Held, size: int, window: int | None) -> int:
    return prefix_hit(held, size, window) // size


def _count_held(held: Held, size: int, window: int | None) -> int:
    return size * sum(map(bool, held))


def _global_like_sliding(held: Held, size: int, window: int | None) -> int:
    return prefix_hit(held, size, 2 if window is None else window)


def _blocks_of_both(everything: Held, sliding: Held, size: int, window: int) -> int:
    return prefix_hit([a and b for a, b in zip(everything, sliding, strict=False)], size, None)


def _prefix_cases(rng: Random) -> list[Case]:
    asked: list[tuple[list[int], int, int | None]] = [
        ([1, 1, 0, 1], 4, None), ([0, 1, 1], 4, None), ([1, 1, 1], 4, None), ([], 4, 6),
        ([1, 0, 1, 1, 0], 4, 6), ([0, 0, 0, 1, 0], 4, 5), ([0, 0, 0, 1, 0], 4, 6),
        ([1, 0, 0, 1], 4, 6), ([0, 0, 1, 1, 1, 0, 1], 1, 4), ([1, 0, 1, 1, 1, 1], 2, 6),
        ([1, 1, 1, 0, 1, 1], 2, 7), ([1, 1, 0, 1, 1], 2, 6), ([0, 1, 0], 3, 5), ([0, 1, 1], 3, 5),
    ]  # fmt: skip
    drawn = [rng.choice([0, 1, 1, 1]) for _ in range(12)]
    size = rng.randrange(2, 5)
    asked.append((drawn, size, size * rng.randrange(1, 4) + rng.randrange(1, 3)))
    mixed: list[tuple[list[int], list[int], int, int]] = [
        ([1, 1, 1, 1, 0], [0, 0, 0, 1, 1], 4, 5), ([1, 1, 1, 0, 0], [0, 1, 1, 0, 1], 4, 6),
        ([1, 1, 1, 1, 1], [0, 1, 1, 0, 0], 4, 6), ([1, 1, 1, 0], [0, 0, 1, 1], 4, 8),
        ([1, 1, 1, 1, 0, 1], [1, 0, 0, 1, 1, 1], 4, 6), ([0, 1, 1], [1, 1, 1], 4, 6),
        ([1, 1, 1, 1, 1, 0], [0, 1, 1, 0, 1, 1], 2, 4),
    ]  # fmt: skip
    kinds = [[rng.choice([0, 1, 1, 1]) for _ in range(9)] for _ in range(2)]
    mixed.append((kinds[0], kinds[1], 2, rng.randrange(3, 7)))
    calls = [f"prefix_hit({', '.join(map(str, one))})" for one in asked]
    return [call_case(call, "prefix_hit") for call in calls] + [
        call_case(f"hybrid_hit({', '.join(map(str, one))})", "hybrid_hit") for one in mixed
    ]


PREFIX = Exercise(
    id="by3-prefix",
    names=("prefix_hit", "hybrid_hit"),
    cases=_prefix_cases,
    reference=answers(prefix_hit, hybrid_hit),
    mutants=(
        Mutant(
            "all-needed",
            "every block is asked for: with a window only the last W - 1 tokens of the prefix are, "
            "and what lies before them may be gone",
            _with_hit(lambda held, size, window: prefix_hit(held, size, None)),
        ),
        Mutant(
            "itself-counted",
            "W tokens of the prefix are asked for: W counts the next token, too, so it sees W - 1 "
            "of them",
            _with_needed(lambda window, size: ceil(window / size)),
        ),
        Mutant(
            "whole-blocks-alone",
            "a block of which only some tokens are needed is not asked for: they are needed",
            _with_needed(lambda window, size: (window - 1) // size),
        ),
        Mutant(
            "one-block-more",
            "a block too many is asked for: a prefix ends where a page ends, so no page is needed "
            "for the window to lie across",
            _with_needed(lambda window, size: ceil((window - 1) / size) + 1),
        ),
        Mutant(
            "one-block",
            "one held block is taken for enough: W - 1 tokens may lie in several",
            _with_needed(lambda window, size: 1),
        ),
        Mutant(
            "tokens-as-blocks",
            "W - 1 blocks are asked for: it is W - 1 tokens",
            _with_needed(lambda window, size: window - 1),
        ),
        Mutant(
            "shortest",
            "the shortest prefix that is of use is given: the longest saves most",
            _with_hit(_shortest),
        ),
        Mutant(
            "short-refused",
            "a prefix of fewer than W - 1 tokens is refused: it is of use when all of it is held",
            _with_hit(_full_window_only),
        ),
        Mutant(
            "in-blocks",
            "blocks are counted: give tokens",
            answers(prefix_hit=_in_blocks),
        ),
        Mutant(
            "held-counted",
            "the blocks that are held are counted, gaps or not",
            answers(prefix_hit=_count_held),
        ),
        Mutant(
            "global-like-sliding",
            "a layer without a window is content with the end of the prefix: it sees all of it",
            answers(prefix_hit=_global_like_sliding),
        ),
        Mutant(
            "shorter-of-both",
            "the shorter of the two hits is given: where the global layers end sooner, the sliding "
            "ones may not hold the tokens right before that place",
            _with_both(lambda e, s, b, w: min(prefix_hit(e, b, None), prefix_hit(s, b, w))),
        ),
        Mutant(
            "longer-of-both",
            "the longer of the two hits is given: both kinds of layers must have what they need",
            _with_both(lambda e, s, b, w: max(prefix_hit(e, b, None), prefix_hit(s, b, w))),
        ),
        Mutant(
            "global-alone",
            "the global layers alone are asked",
            _with_both(lambda e, s, b, w: prefix_hit(e, b, None)),
        ),
        Mutant(
            "sliding-alone",
            "the sliding layers alone are asked",
            _with_both(lambda e, s, b, w: prefix_hit(s, b, w)),
        ),
        Mutant(
            "blocks-of-both",
            "a block counts only where both kinds of layers hold it: the sliding ones need just "
            "the end",
            _with_both(_blocks_of_both),
        ),
    ),
)
