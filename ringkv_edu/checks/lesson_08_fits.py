"""Lesson 08: what fits on a card under the weights; GB and GiB are two things."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from random import Random
from typing import Any

from .lesson_08_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["FITS"]

Cache = Callable[[int], float]  # bytes of a request of so many tokens
UNITS = {"GB": 10**9, "GiB": 2**30}


def room(memory: float, unit: str, weights: float, use: float) -> float:
    """Give the bytes left for caches on a share of a card."""
    return max(0, memory * UNITS[unit] * use - weights)


def most_requests(left: float, cache: Cache, tokens: int) -> int:
    """Give how many requests of ``tokens`` tokens fit into ``left`` bytes."""
    return int(left // cache(tokens))


def longest_context(left: float, cache: Cache, requests: int, most: int) -> int:
    """Give the most tokens that each request can have, ``most`` at most; 0 if none."""
    return _last(lambda n: requests * cache(n) <= left, most)


def _last(fits: Callable[[int], bool], most: int) -> int:
    """Give the last number from 1 to ``most`` that fits, 0 if none; what fits, fits below, too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _room(value: Callable[[float, str, float, float], float]) -> dict[str, Any]:
    return answers(room=value)


def _requests(value: Callable[[float, Cache, int], float]) -> dict[str, Any]:
    return answers(most_requests=value)


def _context(value: Callable[[float, Cache, int, int], float]) -> dict[str, Any]:
    return answers(longest_context=value)


def _in_proportion(left: float, cache: Cache, requests: int, most: int) -> int:
    return min(most, int(left // (requests * cache(1))))


def _doubling(left: float, cache: Cache, requests: int, most: int) -> int:
    tokens = 1
    while 2 * tokens <= most and requests * cache(2 * tokens) <= left:
        tokens *= 2
    return tokens if requests * cache(tokens) <= left else 0


def _without_end(left: float, cache: Cache, requests: int, most: int) -> int:
    return longest_context(left, cache, requests, 2**50)


def _zero_without_end(left: float, cache: Cache, requests: int, most: int) -> int:
    found = longest_context(left, cache, requests, most)
    return 0 if found == most else found


def _room_cases(rng: Random) -> list[Case]:
    asked = [
        (80, "GB", 13_000_000_000, 1),
        (24, "GiB", 13_000_000_000, 1),
        (40, "GB", 10**10, 0.5),
        (16, "GiB", 2**32, 0.75),
        (10, "GB", 3 * 10**9, 0.25),
        (8, "GiB", 2**33, 0.875),
    ]
    drawn = (rng.randrange(40, 90), rng.randrange(1, 9) * 10**9, rng.choice([0.5, 0.75]))
    asked += [(drawn[0], unit, *drawn[1:]) for unit in ("GB", "GiB")]
    return [call_case(f"room({m}, {unit!r}, {w}, {use})", "room") for m, unit, w, use in asked]


def _cases(rng: Random) -> list[Case]:
    token = rng.randrange(3, 40)
    window = rng.randrange(20, 60)
    requests = [
        "1000, lambda n: 10 * n, 30",
        "1000, lambda n: 10 * n, 25",
        "1000, lambda n: 10 * min(n, 7), 30",
        "1999, lambda n: 4 * n + 8 * min(n, 16), 50",
        "500, lambda n: 10 * n, 51",
        f"{rng.randrange(40, 90) * token * window}, lambda n: {token} * min(n, {window}), 900",
    ]
    contexts = [
        "1000, lambda n: 10 * n, 1, 10**6",
        "1009, lambda n: 10 * n, 3, 10**6",
        "1000, lambda n: 8 * n + 4 * min(n, 10), 1, 2**40",
        "960, lambda n: 8 * n + 4 * min(n, 10), 2, 2**40",
        "1000, lambda n: 10 * min(n, 50), 2, 2**40",
        "1000, lambda n: 10 * min(n, 50), 3, 2**40",
        "1000, lambda n: 10 * n, 1, 60",
        "99, lambda n: 50 * n, 2, 500",
        f"{rng.randrange(900, 9999)}, lambda n: {token} * n + 7 * min(n, 9), 2, 10**9",
    ]
    return [
        *_room_cases(rng),
        *(call_case(f"most_requests({one})", "most_requests") for one in requests),
        *(call_case(f"longest_context({one})", "longest_context") for one in contexts),
    ]


FITS = Exercise(
    id="bg2-fits",
    names=("room", "most_requests", "longest_context"),
    cases=_cases,
    reference=answers(room, most_requests, longest_context),
    mutants=(
        Mutant(
            "gib-as-gb",
            "a GiB is taken for a GB: it is 2 ** 30 bytes, 7 % more",
            _room(lambda m, unit, w, use: room(m, "GB", w, use)),
        ),
        Mutant(
            "gb-as-gib",
            "a GB is taken for a GiB: it is 10 ** 9 bytes",
            _room(lambda m, unit, w, use: room(m, "GiB", w, use)),
        ),
        Mutant(
            "units-swapped",
            "GB and GiB have changed places: GiB are the powers of two",
            _room(lambda m, unit, w, use: room(m, {"GB": "GiB", "GiB": "GB"}[unit], w, use)),
        ),
        Mutant(
            "whole-card",
            "the whole card is used: `use` is the share that may be",
            _room(lambda m, unit, w, use: room(m, unit, w, 1)),
        ),
        Mutant(
            "share-of-the-rest",
            "the share is taken of what the weights leave: it is a share of the card",
            _room(lambda m, unit, w, use: use * room(m, unit, w, 1)),
        ),
        Mutant(
            "weights-kept",
            "the weights take no place: they lie on the card, too",
            _room(lambda m, unit, w, use: m * UNITS[unit] * use),
        ),
        Mutant(
            "below-zero",
            "fewer than no bytes are left: where the weights do not fit, the room is 0",
            _room(lambda m, unit, w, use: m * UNITS[unit] * use - w),
        ),
        Mutant(
            "in-units",
            "the room is in the unit of the card: give bytes",
            _room(lambda m, unit, w, use: room(m, unit, w, use) / UNITS[unit]),
        ),
        Mutant(
            "rounded-up",
            "the number of requests is rounded up: the last one does not fit",
            _requests(lambda left, cache, n: ceil(left / cache(n))),
        ),
        Mutant(
            "part-of-a-request",
            "a part of a request is counted: give a whole number",
            _requests(lambda left, cache, n: left / cache(n)),
        ),
        Mutant(
            "token-by-token",
            "one token's bytes are multiplied by the tokens: a ring stops growing, so ask for "
            "`cache(tokens)`",
            _requests(lambda left, cache, n: int(left // (n * cache(1)))),
        ),
        Mutant(
            "exact-fit-lost",
            "a request that fits exactly is refused: the room may be used up",
            _requests(lambda left, cache, n: ceil(left / cache(n)) - 1),
        ),
        Mutant(
            "in-proportion",
            "the room is divided by one token's bytes: a cache with rings in it does not grow in "
            "proportion",
            _context(_in_proportion),
        ),
        Mutant(
            "one-request",
            "the room is given to one request: all of them share it",
            _context(lambda left, cache, b, most: longest_context(left, cache, 1, most)),
        ),
        Mutant(
            "first-too-long",
            "the first length that does not fit is given: the last one that fits is asked for",
            _context(
                lambda left, cache, b, most: min(most, longest_context(left, cache, b, most) + 1)
            ),
        ),
        Mutant(
            "context-exact-fit-lost",
            "a length that fits exactly is refused: the room may be used up",
            _context(lambda left, cache, b, most: _last(lambda n: b * cache(n) < left, most)),
        ),
        Mutant(
            "doubled",
            "lengths are doubled and the last that fits is taken: more lie between it and the next",
            _context(_doubling),
        ),
        Mutant(
            "one-at-least",
            "one token is given where not even that fits: then it is 0",
            _context(lambda left, cache, b, most: max(1, longest_context(left, cache, b, most))),
        ),
        Mutant(
            "most-ignored",
            "`most` is passed over: no request may be longer",
            _context(_without_end),
        ),
        Mutant(
            "no-end-as-zero",
            "0 is given where every length fits: then it is `most`",
            _context(_zero_without_end),
        ),
        Mutant(
            "total",
            "the tokens of all requests together are given: each can have so many",
            _context(lambda left, cache, b, most: b * longest_context(left, cache, b, most)),
        ),
    ),
)
