"""Lesson 07: time to the first token, time for each further one, throughput."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from .lesson_07_common import line_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["TIMES"]

Arrived = Mapping[str, float]
Steps = Sequence[tuple[float, Sequence[str]]]
Pair = tuple[Any, Any]
Times = list[float]


def latencies(arrived: Arrived, steps: Steps) -> dict[str, Pair]:
    """Give (TTFT, TPOT) in seconds for each request; None where the log cannot say it."""
    return _latencies(arrived, steps)


def _first(asked: float, times: Times, arrived: Arrived) -> float | None:
    return times[0] - asked if times else None


def _each(asked: float, times: Times, steps: Steps) -> float | None:
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None


def _latencies(
    arrived: Arrived,
    steps: Steps,
    first: Callable[[float, Times, Arrived], Any] = _first,
    each: Callable[[float, Times, Steps], Any] = _each,
) -> dict[str, Pair]:
    of: dict[str, Times] = {one: [] for one in arrived}
    for end, names in steps:
        for one in names:
            of[one].append(end)
    return {
        name: (first(arrived[name], times, arrived), each(arrived[name], times, steps))
        for name, times in of.items()
    }


def throughput(arrived: Arrived, steps: Steps) -> float:
    """Give tokens a second, over all requests, from the first arrival to the last step's end."""
    return _throughput(arrived, steps)


def _tokens(steps: Steps) -> float:
    return sum(len(names) for _, names in steps)


def _throughput(
    arrived: Arrived,
    steps: Steps,
    count: Callable[[Steps], float] = _tokens,
    since: Callable[[Arrived, Steps], float] = lambda arrived, steps: min(arrived.values()),
) -> float:
    return count(steps) / (steps[-1][0] - since(arrived, steps))


def _with_first(first: Callable[[float, Times, Arrived], Any]) -> dict[str, Any]:
    return answers(latencies=lambda arrived, steps: _latencies(arrived, steps, first=first))


def _with_each(each: Callable[[float, Times, Steps], Any]) -> dict[str, Any]:
    return answers(latencies=lambda arrived, steps: _latencies(arrived, steps, each=each))


def _with_throughput(**parts: Any) -> dict[str, Any]:
    return answers(throughput=lambda arrived, steps: _throughput(arrived, steps, **parts))


def _if_many(value: Callable[[float, Times], float]) -> Callable[[float, Times, Steps], Any]:
    return lambda asked, times, steps: value(asked, times) if len(times) > 1 else None


def _mean_step(asked: float, times: Times, steps: Steps) -> float | None:
    if len(times) < 2:
        return None
    return (steps[-1][0] - steps[0][0]) / (len(steps) - 1)


def _median(asked: float, times: Times, steps: Steps) -> float | None:
    waits = sorted(b - a for a, b in pairwise(times))
    middle = len(waits) // 2
    return (waits[middle] + waits[-1 - middle]) / 2 if waits else None


def _zero_first(asked: float, times: Times, arrived: Arrived) -> float:
    return times[0] - asked if times else 0.0


def _left_out(arrived: Arrived, steps: Steps) -> dict[str, Pair]:
    return {name: pair for name, pair in latencies(arrived, steps).items() if pair[0] is not None}


def drawn_log(rng: Random) -> tuple[dict[str, float], list[tuple[float, list[str]]]]:
    """Draw two requests in one batch: each has a step that reads its prompt, then short ones."""
    arrived = {"a": rng.randrange(1, 9) / 8, "b": rng.randrange(9, 17) / 8}
    now, steps, alive = arrived["a"], [], ["a"]
    for step in range(rng.randrange(5, 9)):
        joins = step == 2
        now = max(now, arrived["b"]) if joins else now
        now += rng.randrange(4, 9) / 8 if step == 0 or joins else rng.randrange(1, 4) / 16
        alive = ["a", "b"] if joins else alive
        steps.append((now, list(alive)))
    return arrived, steps


def _times_cases(rng: Random) -> list[Case]:
    logs: list[tuple[dict[str, float], list[tuple[float, list[str]]]]] = [
        ({"a": 0.0}, [(0.5, ["a"]), (0.625, ["a"]), (0.75, ["a"])]),
        ({"a": 2.0}, [(3.0, ["a"]), (3.25, ["a"]), (4.0, ["a"]), (4.25, ["a"])]),
        (
            {"a": 0.5},
            [(3.0, ["a"]), (3.125, ["a"]), (3.625, ["a"]), (3.875, ["a"]), (4.625, ["a"])],
        ),
        ({"a": 1.0}, [(1.5, ["a"])]),
        (
            {"a": 0.25, "b": 1.0},
            [(1.0, ["a"]), (1.125, ["a"]), (2.0, ["a", "b"]), (2.25, ["a", "b"]), (2.5, ["b"])],
        ),
        ({"a": 0.5, "b": 0.0, "c": 2.0}, [(1.0, ["b"]), (1.75, ["a", "b"]), (2.0, ["a"])]),
        drawn_log(rng),
    ]
    cases = [_case(f"latencies({arrived}, {steps})", "latencies") for arrived, steps in logs]
    return cases + [
        _case(f"throughput({arrived}, {steps})", "throughput") for arrived, steps in logs
    ]


def _case(call: str, name: str) -> Case:
    def look(space: dict[str, Any]) -> dict[str, Any]:
        out = space["out"]
        if not isinstance(out, Mapping):
            return {"result": out}
        each = {f"(TTFT, TPOT) of {request}": out[request] for request in sorted(out)}
        return {"requests": sorted(out), **each}

    return line_case(f"out = {call}", name, look)


TIMES = Exercise(
    id="mo6-times",
    names=("latencies", "throughput"),
    cases=_times_cases,
    reference=answers(latencies, throughput),
    mutants=(
        Mutant(
            "from-zero",
            "TTFT is the clock's time of the first token: take off when the request arrived",
            _with_first(lambda asked, times, arrived: times[0] if times else None),
        ),
        Mutant(
            "from-the-first-arrival",
            "every TTFT is counted from the first arrival: each request has its own",
            _with_first(
                lambda asked, times, arrived: times[0] - min(arrived.values()) if times else None
            ),
        ),
        Mutant(
            "first-in-tpot",
            "TPOT counts the wait for the first token, too: it begins when that one is there",
            _with_each(_if_many(lambda asked, times: (times[-1] - asked) / len(times))),
        ),
        Mutant(
            "first-in-tpot-fewer",
            "TPOT counts from the arrival: it begins when the first token is there",
            _with_each(_if_many(lambda asked, times: (times[-1] - asked) / (len(times) - 1))),
        ),
        Mutant(
            "one-too-many",
            "TPOT is divided by all tokens: between n tokens there are n - 1 waits",
            _with_each(_if_many(lambda asked, times: (times[-1] - times[0]) / len(times))),
        ),
        Mutant(
            "last-wait",
            "one wait is taken for the mean of all",
            _with_each(_if_many(lambda asked, times: times[-1] - times[-2])),
        ),
        Mutant(
            "first-wait",
            "one wait is taken for the mean of all",
            _with_each(_if_many(lambda asked, times: times[1] - times[0])),
        ),
        Mutant(
            "median",
            "the middle wait is given: TPOT is the mean",
            _with_each(_median),
        ),
        Mutant(
            "zero-for-no-token",
            "a request that has no token yet gets a TTFT: it has none, so None",
            _with_first(_zero_first),
        ),
        Mutant(
            "total",
            "the time of all further tokens is given: TPOT is for each",
            _with_each(_if_many(lambda asked, times: times[-1] - times[0])),
        ),
        Mutant(
            "tokens-a-second",
            "tokens a second are given: TPOT is seconds a token",
            _with_each(_if_many(lambda asked, times: (len(times) - 1) / (times[-1] - times[0]))),
        ),
        Mutant(
            "mean-step",
            "the server's steps are averaged: only those count between a request's first and last "
            "token",
            _with_each(_mean_step),
        ),
        Mutant(
            "zero-for-none",
            "a request with one token gets a TPOT: it waited for no second one, so None",
            _with_each(lambda asked, times, steps: _each(asked, times, steps) or 0.0),
        ),
        Mutant(
            "left-out",
            "a request that has no token yet is left out: it is (None, None)",
            answers(latencies=_left_out),
        ),
        Mutant(
            "steps-counted",
            "steps are counted: a step gives a token to each request in it",
            _with_throughput(count=len),
        ),
        Mutant(
            "throughput-from-zero",
            "the clock's time is taken for the time passed: count from the first arrival",
            _with_throughput(since=lambda arrived, steps: 0.0),
        ),
        Mutant(
            "first-listed",
            "the request that stands first in `arrived` is taken for the first to arrive",
            _with_throughput(since=lambda arrived, steps: next(iter(arrived.values()))),
        ),
        Mutant(
            "from-the-last-arrival",
            "the time is counted from the last arrival: count from the first",
            _with_throughput(since=lambda arrived, steps: max(arrived.values())),
        ),
        Mutant(
            "throughput-from-first-step",
            "the time until the first step's end is left out: count from the first arrival",
            _with_throughput(since=lambda arrived, steps: steps[0][0] if len(steps) > 1 else 0.0),
        ),
        Mutant(
            "first-tokens-left-out",
            "first tokens are left out of the throughput: they are tokens, too",
            _with_throughput(
                count=lambda steps: (
                    sum(len(names) for _, names in steps)
                    - len({name for _, names in steps for name in names})
                )
            ),
        ),
        Mutant(
            "for-each-request",
            "the throughput is divided by the requests: the server's is that of all together",
            answers(throughput=lambda arrived, steps: throughput(arrived, steps) / len(arrived)),
        ),
    ),
)
