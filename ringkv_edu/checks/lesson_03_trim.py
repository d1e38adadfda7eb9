"""Lesson 03, case file: a trim that never refuses (after ml-explore/mlx-lm#1512)."""

from __future__ import annotations

from random import Random
from typing import Any

from ..given_chunks import TwoCounters
from . import lesson_03_trim_mistakes as wrong
from .guard import call
from .lesson_03_common import SLIPS, watched_case
from .lesson_03_trim_mistakes import trim
from .model import Case, Exercise, Mutant, answers

__all__ = ["TRIM"]

Script = tuple[tuple[int, int], ...]  # (taken back, new tokens after it)


def _trim_cases(rng: Random) -> list[Case]:
    """Draw (max_size, tokens, taken back and new tokens, ...)."""
    runs: list[tuple[Any, ...]] = [
        (4, 10, (2, 1)),
        (4, 3, (1, 2)),
        (4, 4, (1, 2)),
        (4, 5, (1, 1)),
        (4, 5, (5, 3)),
    ]
    runs += [(4, 10, (10, 5)), (4, 6, (9, 2)), (1, 3, (1, 1)), (4, 4, (4, 2)), (4, 0, (2, 1))]
    runs += [(5, 8, (4, 2)), (4, 10, (0, 2)), (4, 3, (0, 1)), (4, 7, (7, 3), (2, 1))]
    size = rng.randrange(3, 7)
    runs += [(size, size + rng.randrange(1, 2 * size), (rng.randrange(1, 4), 2))]
    return [_trim_case(size, tokens, tuple(script)) for size, tokens, *script in runs]


def _trim_case(size: int, tokens: int, script: Script) -> Case:
    line = f"cache = TwoCounters({size}); {_appending(0, tokens)}"
    new = 100
    for taken, after in script:
        line += f"took = trim(cache, {taken}); {_appending(new, after)}"
        new += after

    def end(space: dict[str, Any]) -> dict[str, Any]:
        cache = space["cache"]
        return {"held at the end": cache.held(), "offset at the end": cache.offset}

    return watched_case(line.removesuffix("; "), "trim", _watched, end)


def _appending(first: int, n: int) -> str:
    if n < 2:
        return f"cache.append({first}); " * n
    last = f"{first}, {first + n}" if first else f"{n}"
    return f"[cache.append(token) for token in range({last})]; "


def _watched(number: int, function: Any, cache: TwoCounters, n: int) -> dict[str, Any]:
    try:
        took = call(function, cache, n, may_change=(0,))
    except SLIPS:
        raise
    except Exception as error:
        took = f"raises {type(error).__name__}"
    held = sorted(cache.held(), key=lambda token: (token is None, token))
    which = "trim" if number == 1 else f"trim number {number}"
    first = {"result" if number == 1 else f"result of {which}": took}
    return {**first, f"offset after {which}": cache.offset, f"held after {which}": held}


EMPTIED = (
    "a cache that cannot take n tokens back is emptied: it must stay as it was, and the answer is 0"
)
WHEN: tuple[tuple[str, wrong.Lost], ...] = (
    ("wrapped", wrong.lost),
    ("full", lambda cache, n: cache.offset >= cache.max_size),
)

TRIM = Exercise(
    id="case03-trim",
    names=("trim",),
    cases=_trim_cases,
    reference=answers(trim),
    mutants=(
        Mutant(
            "as-reported",
            "nothing is refused: after the wrap, the drafts lie where older tokens stood, and "
            "turning the counters back does not bring those back",
            answers(trim=wrong.refusing(lambda cache, n: False)),
        ),
        Mutant(
            "index-modulo",
            "the index is mended, and nothing is refused: it was never the index that lost a token",
            answers(trim=wrong.index_modulo),
        ),
        Mutant(
            "one-early",
            "a cache that has only just filled up refuses: nothing has been overwritten yet",
            answers(trim=wrong.refusing_well(lambda c, n: n < c.offset and c.offset >= c.max_size)),
        ),
        Mutant(
            "never-all",
            "taking back everything is refused after the wrap: an empty text needs no old token",
            answers(trim=wrong.refusing_well(lambda cache, n: cache.offset > cache.max_size)),
        ),
        Mutant(
            "one-early-never-all",
            "a full cache refuses everything: when it has only just filled up nothing is lost yet, "
            "and when all is taken back no old token is needed",
            answers(trim=wrong.refusing_well(lambda cache, n: cache.offset >= cache.max_size)),
        ),
        *(
            Mutant(f"next-token{style}", wrong.ONE_LESS, answers(trim=wrong.one_less(index)))
            for style, index in (
                ("", lambda cache: cache.offset % cache.max_size),
                ("-index-is-offset", lambda cache: cache.offset),
            )
        ),
        Mutant(
            "none-taken-back",
            "the index is set to `offset` when nothing is taken back: after the wrap it is the "
            "slot of the next write",
            answers(trim=wrong.refusing_alone(lambda c, n: n > 0 and wrong.lost(c, n))),
        ),
        Mutant(
            "one-late",
            "a cache that has overwritten one token still takes tokens back: the shorter text "
            "needs that token",
            answers(trim=wrong.refusing_alone(lambda c, n: n < c.offset > c.max_size + 1)),
        ),
        Mutant(
            "too-many-refused",
            "a trim of more tokens than there are is refused: it takes back all of them",
            answers(trim=lambda cache, n: 0 if n > cache.offset else trim(cache, n)),
        ),
        Mutant(
            "index-zero",
            "the index becomes 0 whenever tokens are taken back: an empty cache begins at slot 0, "
            "the next token of any other goes behind those that are left",
            answers(trim=wrong.index_zero),
        ),
        Mutant("not-cut", wrong.CUT, answers(trim=wrong.not_cut)),
        Mutant("not-cut-said", wrong.CUT, answers(trim=wrong.says_what_was_asked)),
        *(
            Mutant(
                f"raises-{error.__name__}",
                "an error is raised where 0 should be returned: this caller asks how many tokens "
                "were taken back",
                answers(trim=wrong.raising(error)),
            )
            for error in (ValueError, RuntimeError, Exception, AssertionError)
        ),
        *(
            Mutant(f"emptied-{when}-{what}", EMPTIED, answers(trim=wrong.emptying(lost, says)))
            for when, lost in WHEN
            for what, says in (
                ("n", lambda cache, n: n),
                ("all", lambda cache, n: cache.offset),
                ("0", lambda cache, n: 0),
            )
        ),
        Mutant(
            "index-negative",
            "the index falls below 0 when everything is taken back after the wrap: an empty "
            "cache begins at slot 0",
            answers(trim=wrong.refusing(wrong.lost)),
        ),
        Mutant(
            "always-refuses",
            "every trim is refused: before the wrap nothing has been lost",
            answers(trim=lambda cache, n: 0),
        ),
        Mutant(
            "room-asked",
            "n is compared with the size: what counts is whether a token that the shorter text "
            "needs was overwritten",
            answers(trim=wrong.refusing(lambda cache, n: n > cache.max_size)),
        ),
        Mutant(
            "index-asked",
            "n is compared with the index: after the wrap the index only says where the next "
            "write goes",
            answers(trim=wrong.refusing(lambda cache, n: n > cache.index)),
        ),
        Mutant(
            "index-kept",
            "the index stays where it was: the next token goes behind those taken back",
            answers(trim=wrong.keeping("index")),
        ),
        Mutant(
            "offset-kept",
            "the offset stays where it was: the cache still counts the tokens taken back",
            answers(trim=wrong.keeping("offset")),
        ),
        Mutant(
            "says-n",
            "a refused trim says that it took back n tokens: it took back 0",
            answers(trim=wrong.says_n),
        ),
        Mutant(
            "changes-first",
            "the counters are changed before 0 is returned: a refusal leaves the cache as it was",
            answers(trim=wrong.changes_first),
        ),
        Mutant("no-return", "nothing is returned", answers(trim=wrong.no_return)),
    ),
)
