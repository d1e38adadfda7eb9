"""Lesson 08: known mistakes about what a window gains."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .lesson_08_common import call_case
from .lesson_08_gain import (
    first_length,
    latency_gain,
    rounded_down,
    solved_length,
    throughput_gain,
    weights_only,
)
from .model import Case, Exercise, Mutant, answers

__all__ = ["GAIN"]

NAMES = ("latency_gain", "throughput_gain", "first_length")


def _latency(gain: Callable[[float, float, int, int, int], float]) -> dict[str, Any]:
    return answers(latency_gain=gain)


def _throughput(gain: Callable[[float, float, int, int, float], Any]) -> dict[str, Any]:
    return answers(throughput_gain=gain)


def _first(length: Callable[..., Any]) -> dict[str, Any]:
    return answers(first_length=length)


def _ratio(w: float, t: float, window: int, n: int, batch: int) -> float:
    return n / min(n, window)


def _always_w(w: float, t: float, window: int, n: int, batch: int) -> float:
    return (w + batch * t * n) / (w + batch * t * window)


def _fits(left: float, t: float, n: int) -> int:
    return int(left // (t * n))


def _more_requests(w: float, t: float, window: int, n: int, left: float) -> float | None:
    before = _fits(left, t, n)
    return _fits(left, t, min(n, window)) / before if before else None


def _same_requests(w: float, t: float, window: int, n: int, left: float) -> float | None:
    before = _fits(left, t, n)
    return latency_gain(w, t, window, n, before) if before else None


def _as_many_with(w: float, t: float, window: int, n: int, left: float) -> float | None:
    if not _fits(left, t, n):
        return None
    return latency_gain(w, t, window, n, _fits(left, t, min(n, window)))


def _lengths_alone(w: float, t: float, window: int, n: int, left: float) -> float | None:
    """Give what parts of requests would gain, or steps that read no weights."""
    return _ratio(w, t, window, n, 1) if _fits(left, t, n) else None


def _weights_off(w: float, t: float, window: int, n: int, left: float) -> float | None:
    return throughput_gain(w, t, window, n, left - w) if left > w else None


def _zero(w: float, t: float, window: int, n: int, left: float) -> float:
    return throughput_gain(w, t, window, n, left) or 0


def _one(w: float, t: float, window: int, n: int, left: float) -> float:
    return throughput_gain(w, t, window, n, left) or 1


def _past(w: float, t: float, window: int, wanted: float, batch: int, most: int) -> int | None:
    """Refuse a length at which the gain is exactly what was wished for."""
    found = first_length(w, t, window, wanted, batch, most)
    if found and latency_gain(w, t, window, found, batch) == wanted:
        return found + 1 if found < most else None
    return found


def _below_most(w: float, t: float, window: int, wanted: float, batch: int, most: int) -> Any:
    return first_length(w, t, window, wanted, batch, most - 1)


def _no_end(w: float, t: float, window: int, wanted: float, batch: int, most: int) -> Any:
    return first_length(w, t, window, wanted, batch, 2**60)


def _most_for_none(w: float, t: float, window: int, wanted: float, batch: int, most: int) -> Any:
    return first_length(w, t, window, wanted, batch, most) or most


def _in_windows(w: float, t: float, window: int, wanted: float, batch: int, most: int) -> Any:
    return solved_length(0, t, window, wanted, batch, most)


def _doubled(w: float, t: float, window: int, wanted: float, batch: int, most: int) -> Any:
    tokens = 1
    while tokens <= most and latency_gain(w, t, window, tokens, batch) < wanted:
        tokens *= 2
    return tokens if tokens <= most else None


def _cases(rng: Random) -> list[Case]:
    seven = "SEVEN.weights, 512 * KIB, 1024"
    window = rng.randrange(20, 50)
    sizes = f"{6 * rng.randrange(500, 1500) + 1}, {rng.randrange(2, 9)}, {window}"
    latencies = [
        "1000, 10, 10, 120, 1", "1000, 10, 10, 120, 8", "1000, 10, 10, 6, 4", "500, 2, 50, 50, 1",
        f"{seven}, 16384, 1", f"{seven}, 16384, 8", f"{sizes}, {rng.randrange(200, 900)}, 3",
    ]  # fmt: skip
    throughputs = [
        "1000, 10, 10, 100, 2500", "1000, 10, 10, 100, 999", "1000, 10, 10, 6, 2500",
        "500, 2, 50, 400, 1700", "3000, 10, 10, 100, 2000",
        f"{seven}, 16384, 80 * GB - SEVEN.weights",
        f"{sizes}, 500, {rng.randrange(21, 90) * 500}",
    ]  # fmt: skip
    firsts = [
        "1000, 10, 10, 2, 1, 10**6", "1000, 10, 10, 2, 1, 120", "1000, 10, 10, 2, 1, 119",
        "1000, 10, 10, 2, 4, 10**6", "1000, 7, 10, 3, 1, 10**6", "90, 10, 8, 1.5, 2, 500",
        f"{seven}, 3, 1, 131072", f"{seven}, 3, 1, 4096", f"{seven}, 3, 64, 4096",
        f"{sizes}, {rng.choice([2, 3, 5])}, 3, 10**9",
    ]  # fmt: skip
    asked = zip(NAMES, (latencies, throughputs, firsts), strict=True)
    return [call_case(f"{name}({one})", name) for name, calls in asked for one in calls]


GAIN = Exercise(
    id="bg4-gain",
    names=NAMES,
    cases=_cases,
    reference=answers(latency_gain, throughput_gain, first_length),
    mutants=(
        Mutant(
            "caches-alone",
            "the caches alone are compared: a step reads the weights as well, window or not",
            _latency(_ratio),
        ),
        Mutant(
            "batch-of-one",
            "the batch makes no difference: each of its requests has a cache, the weights are "
            "read once",
            _latency(lambda w, t, window, n, batch: latency_gain(w, t, window, n, 1)),
        ),
        Mutant(
            "always-w",
            "a text shorter than W is counted as W tokens: there the window changes nothing",
            _latency(_always_w),
        ),
        Mutant(
            "share-left",
            "the share of the time that is left is given: ask how many times shorter it is",
            _latency(lambda *args: 1 / latency_gain(*args)),
        ),
        Mutant(
            "share-saved",
            "the share of the time that is saved is given: ask how many times shorter it is",
            _latency(lambda *args: 1 - 1 / latency_gain(*args)),
        ),
        Mutant(
            "requests-alone",
            "the requests are counted: a step with more of them takes another time",
            _throughput(_more_requests),
        ),
        Mutant(
            "no-more-requests",
            "the window brings no further requests: freed memory takes more of them",
            _throughput(_same_requests),
        ),
        Mutant(
            "as-many-without",
            "as many requests are counted without the window as with it: they do not fit",
            _throughput(_as_many_with),
        ),
        Mutant(
            "weights-taken-off",
            "the weights are taken off once more: `left` is what they leave",
            _throughput(_weights_off),
        ),
        Mutant(
            "lengths-alone",
            "text and window alone are compared: whole requests fit, and each step reads the "
            "weights once",
            _throughput(_lengths_alone),
        ),
        Mutant(
            "zero-for-none",
            "a gain is given where not one request fits without the window: there is none, so None",
            _throughput(_zero),
        ),
        Mutant(
            "one-for-none",
            "1 is given where not one request fits without the window: there is no gain, so None",
            _throughput(_one),
        ),
        Mutant(
            "past-it",
            "a length is passed over where the gain is exactly the wanted one",
            _first(_past),
        ),
        Mutant(
            "rounded-down",
            "the length is rounded down: there the gain is not reached yet",
            _first(rounded_down),
        ),
        Mutant(
            "in-windows",
            "the wanted factor is taken for a number of windows: the weights are read as well",
            _first(_in_windows),
        ),
        Mutant(
            "ring-for-free",
            "what the ring reads is left out: the step with the window reads W tokens, too",
            _first(weights_only),
        ),
        Mutant(
            "first-at-one",
            "the batch makes no difference: with more requests the factor is reached earlier",
            _first(lambda w, t, W, x, b, most: first_length(w, t, W, x, 1, most)),
        ),
        Mutant(
            "most-passed-over",
            "a length beyond `most` is given: then it is None",
            _first(_no_end),
        ),
        Mutant(
            "most-for-none",
            "`most` is given where the factor is not reached: then it is None",
            _first(_most_for_none),
        ),
        Mutant(
            "most-left-out",
            "`most` itself is left out: a request may be that long",
            _first(_below_most),
        ),
        Mutant(
            "doubled-lengths",
            "lengths are doubled, and the first that does is taken: between it and the one before "
            "lie more",
            _first(_doubled),
        ),
    ),
)
