"""Lesson 06: a trigger that goes by a number which stops growing (after S32, D2)."""

from __future__ import annotations

from random import Random
from typing import Any

from . import lesson_06_trigger_mistakes as wrong
from .lesson_04_length_mistakes import Fresh
from .lesson_06_common import class_case
from .lesson_06_trigger_mistakes import SlidingWindowCache, changed, noting
from .model import Case, Exercise, Mutant, answers

__all__ = ["TRIGGER"]


def _trigger_cases(rng: Random) -> list[Case]:
    window = rng.randrange(3, 9)
    runs = [
        (8, 4, "range(1, 21)"),  # the article's
        (8, 4, "range(100, 110)"),
        (6, 4, '"a bank of means"'),  # a length of 6 is no multiple of 4
        (3, 5, '"longer than a window"'),  # the interval is longer than the window
        (1, 1, '"once"'),
        (4, 1, "range(50, 57)"),
        (window, rng.randrange(2, 6), f"range({rng.randrange(90)}, {rng.randrange(110, 120)})"),
    ]
    cases = [
        class_case(
            "SlidingWindowCache",
            _look,
            f"cache = SlidingWindowCache({size}, {interval})",
            f"[cache.add(token) for token in {tokens}]",
        )
        for size, interval, tokens in runs
    ]
    two = ("[a.add(token) for token in 'abc']", "[b.add(token) for token in 'defgh']")
    made = "a = SlidingWindowCache(2, 2)", "b = SlidingWindowCache(4, 2)"
    return [*cases, class_case("SlidingWindowCache", _look, *made, *two)]


def _look(space: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in ("cache", "a", "b") if name in space]
    fields = ("points", "window")
    return {f"{name}.{field}": getattr(space[name], field) for name in names for field in fields}


TRIGGER = Exercise(
    id="ps1-trigger",
    names=("SlidingWindowCache",),
    cases=_trigger_cases,
    reference=answers(SlidingWindowCache),
    mutants=(
        Mutant(
            "length",
            "the trigger still goes by the window's length: that stops growing once the window is "
            "full, so from then on every token is due, or none",
            noting(wrong.length, wrong.length),
        ),
        Mutant(
            "length-noted",
            "the trigger counts tokens, but what is noted is the window's length: note how many "
            "tokens there have been",
            noting(wrong.seen, wrong.length),
        ),
        Mutant(
            "length-triggers",
            "tokens are counted and noted, but the trigger still asks for the window's length",
            noting(wrong.length, wrong.seen),
        ),
        Mutant(
            "counts-late",
            "the trigger asks before this token is counted: one summary is due at 0 tokens, and "
            "each later one comes a token late",
            changed(add=wrong.before),
        ),
        Mutant(
            "position",
            "what is noted is the newest position, one less than the number of tokens",
            noting(wrong.seen, lambda cache: cache.seen - 1),
        ),
        Mutant(
            "position-triggers",
            "the trigger goes by the newest position, which starts at 0: one less than the number "
            "of tokens",
            noting(lambda cache: cache.seen - 1, wrong.seen),
        ),
        Mutant(
            "evictions",
            "the tokens that leave are counted, not those that come: nothing is due until the "
            "window is full",
            changed(add=wrong.evictions),
        ),
        Mutant(
            "once-full",
            "summaries are due only once a token has left: here they are due from the start",
            wrong.only(wrong.is_full),
        ),
        Mutant(
            "until-full",
            "nothing is due any more once the window is full",
            wrong.only(lambda cache: not wrong.is_full(cache)),
        ),
        Mutant(
            "by-token",
            "the token itself is taken for its number: a token may be anything, such as a letter",
            changed(add=wrong.by_token),
        ),
        Mutant(
            "token-noted",
            "the token itself is noted: note how many tokens there have been",
            changed(add=wrong.token_noted),
        ),
        Mutant(
            "begins-again",
            "the count is set back to 0 at each summary, and then noted: every point says the "
            "same. Note how many tokens there have been in all",
            changed(add=wrong.begins_again),
        ),
        Mutant(
            "shared",
            "all caches count together, on the class or outside of it: each cache needs a counter "
            "of its own (self.seen, set in __init__)",
            Fresh(SlidingWindowCache=wrong.shared),
        ),
        Mutant(
            "one-more",
            "the window holds one token too many: the oldest has to go before there are more than "
            "window_size",
            changed(store=wrong.one_more),
        ),
        Mutant(
            "one-less",
            "the window holds one token too few: the oldest goes when a new one needs its place",
            changed(store=wrong.one_less),
        ),
        Mutant(
            "emptied",
            "the window is emptied at each summary: its tokens stay until they are the oldest",
            changed(add=wrong.emptied),
        ),
    ),
)
