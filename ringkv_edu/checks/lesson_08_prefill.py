"""Lesson 08: what a window saves in a prefill, counted in pairs of query and key."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .lesson_08_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["PREFILL"]

Window = int | None
Count = Callable[[int, Window, int], float]


def scored_pairs(n: int, window: Window = None, sinks: int = 0) -> int:
    """Count the pairs of query and key that are scored in a prefill of n tokens, for one head."""
    unseen = 0 if window is None else max(0, n - window - sinks)
    return _triangle(n) - _triangle(unseen)


def work_left(weights: float, each: float, n: int, window: Window, sinks: int = 0) -> float:
    """Give a prefill's multiplications with the window, as a share of those without."""
    return _work(weights, each, n, window, sinks) / _work(weights, each, n, None, 0)


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def _work(weights: float, each: float, n: int, window: Window, sinks: int) -> float:
    return weights * n + each * scored_pairs(n, window, sinks)


def _pairs(count: Count) -> dict[str, Any]:
    return answers(scored_pairs=lambda n, window=None, sinks=0: count(n, window, sinks))


def _banded(count: Callable[[int, int, int], float]) -> dict[str, Any]:
    """Count otherwise where there is a window."""
    return _pairs(lambda n, w, s: _triangle(n) if w is None else count(n, w, s))


def _share(share: Callable[[float, float, int, Window, int], float]) -> dict[str, Any]:
    return answers(work_left=lambda w, each, n, window, sinks=0: share(w, each, n, window, sinks))


def _sinks_twice(n: int, window: int, sinks: int) -> float:
    """Count the sinks once more for each query, those that still lie in the window among them."""
    return (
        scored_pairs(n, window)
        + sum(min(sinks, i + 1) for i in range(min(n, sinks)))
        + (sinks * max(0, n - sinks))
    )


def _no_floor(n: int, window: int, sinks: int) -> float:
    return _triangle(n) - _triangle(n - window - sinks)


def _keys_of_all(n: int, window: int, sinks: int) -> float:
    return n * min(n, window + sinks)


def _square_work(w: float, each: float, n: int, window: Window, sinks: int) -> float:
    return _work(w, each, n, window, sinks) / (w * n + each * n * n)


def _weights_once(w: float, each: float, n: int, window: Window, sinks: int) -> float:
    with_window, without = (each * scored_pairs(n, *one) for one in ((window, sinks), (None, 0)))
    return (w + with_window) / (w + without)


def _scores_alone(w: float, each: float, n: int, window: Window, sinks: int) -> float:
    return scored_pairs(n, window, sinks) / scored_pairs(n)


def _one_each(w: float, each: float, n: int, window: Window, sinks: int) -> float:
    return work_left(w, 1, n, window, sinks)


def _cases(rng: Random) -> list[Case]:
    n, window, sinks = rng.randrange(30, 90), rng.randrange(5, 20), rng.randrange(1, 5)
    pairs = [
        "1", "4", "6, 4", "10, 4", "10, 4, 2", "5, 4, 2", "3, 4, 2", "6, 4, 2", "2, 8, 3", "10, 1",
        "20000", "20000, 1024, 4", "10**7, 4096", f"{n}, {window}, {sinks}",
    ]  # fmt: skip
    shares = [
        "100, 2, 10, 4", "100, 2, 10, 4, 3", "100, 2, 3, 4", "50, 8, 40, None",
        "6738415616, 2 * 32 * 32 * 128, 4096, 1024",
        "6738415616, 2 * 32 * 32 * 128, 16384, 1024, 4",
        f"{rng.randrange(20, 90)}, {rng.randrange(2, 9)}, {n}, {window}, {sinks}",
    ]  # fmt: skip
    return [
        *(call_case(f"scored_pairs({one})", "scored_pairs") for one in pairs),
        *(call_case(f"work_left({one})", "work_left") for one in shares),
    ]


PREFILL = Exercise(
    id="bg5-prefill",
    names=("scored_pairs", "work_left"),
    cases=_cases,
    reference=answers(scored_pairs, work_left),
    mutants=(
        Mutant(
            "square",
            "every query is scored with every key: none sees a later one",
            _pairs(lambda n, w, s: n * n if w is None else n * n - _triangle(max(0, n - w - s))),
        ),
        Mutant(
            "without-itself",
            "no token is scored with itself: each sees itself, too",
            _pairs(lambda n, w, s: scored_pairs(n, w, s) - n),
        ),
        Mutant(
            "full-from-the-start",
            "every query is given a full window: the first ones have fewer tokens before them",
            _banded(_keys_of_all),
        ),
        Mutant(
            "no-window",
            "the window changes nothing: past it a query sees W keys and the sinks",
            _banded(lambda n, w, s: _triangle(n)),
        ),
        Mutant(
            "one-too-wide",
            "the window is one too wide: W counts the query itself",
            _banded(lambda n, w, s: scored_pairs(n, w + 1, s)),
        ),
        Mutant(
            "one-too-narrow",
            "the window is one too narrow: W counts the query itself and W - 1 before it",
            _banded(lambda n, w, s: scored_pairs(n, w - 1, s)),
        ),
        Mutant(
            "sinks-left-out",
            "the sinks are left out: a query sees them behind its window, too",
            _banded(lambda n, w, s: scored_pairs(n, w)),
        ),
        Mutant(
            "sinks-twice",
            "sinks that still lie in the window are counted twice",
            _banded(_sinks_twice),
        ),
        Mutant(
            "sinks-from-the-start",
            "each query is given all sinks at once: they come out of its window one by one",
            _banded(lambda n, w, s: scored_pairs(n, w) + s * max(0, n - w)),
        ),
        Mutant(
            "no-floor",
            "a short text loses pairs that it never had: where n is at most W + S, all are there",
            _banded(_no_floor),
        ),
        Mutant(
            "unseen",
            "the pairs are given that the window leaves out",
            _banded(lambda n, w, s: _triangle(max(0, n - w - s))),
        ),
        Mutant(
            "scores-alone",
            "the scores alone are compared: every token passes through the weights, too",
            _share(_scores_alone),
        ),
        Mutant(
            "weights-once",
            "the weights are counted once: in a prefill every token is multiplied by them",
            _share(_weights_once),
        ),
        Mutant(
            "weights-alone",
            "the scores are left out: they are what gets fewer",
            _share(lambda w, each, n, window, s: 1),
        ),
        Mutant(
            "one-multiplication",
            "a pair is counted as one multiplication: it takes `each`, over all heads and layers",
            _share(_one_each),
        ),
        Mutant(
            "against-the-square",
            "it is compared with all pairs: without a window a query sees no later key, either",
            _share(_square_work),
        ),
        Mutant(
            "share-saved",
            "the share that is saved is given: give what is left",
            _share(lambda *args: 1 - work_left(*args)),
        ),
        Mutant(
            "times-less",
            "it is told how many times less there is to do: give the share that is left",
            _share(lambda *args: 1 / work_left(*args)),
        ),
        Mutant(
            "no-sinks",
            "the sinks are not handed on: with them there is more to score",
            _share(lambda w, each, n, window, s: work_left(w, each, n, window)),
        ),
    ),
)
