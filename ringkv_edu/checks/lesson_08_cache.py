"""Lesson 08: the bytes of a cache, over layers, sinks, slack and a batch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given_budget import GIB, Shape
from .lesson_08_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["CACHE"]

Slots = Callable[[int | None, int, int, int], float]  # window, tokens, sinks, slack
Entry = Callable[[Shape, float], float]  # bytes of a token in a layer


def planned_bytes(
    shape: Shape, tokens: int, batch: int = 1, sinks: int = 0, slack: int = 0, number: float = 2
) -> float:
    """Give the bytes of the caches of ``batch`` requests of ``tokens`` tokens each."""
    return _planned(shape, tokens, batch, sinks, slack, number)


def _slots(window: int | None, tokens: int, sinks: int, slack: int) -> float:
    return tokens if window is None else min(tokens, sinks + window + slack)


def _entry(shape: Shape, number: float) -> float:
    return 2 * shape.kv_heads * shape.head_dim * number


def _planned(
    shape: Shape,
    tokens: int,
    batch: int = 1,
    sinks: int = 0,
    slack: int = 0,
    number: float = 2,
    slots: Slots = _slots,
    entry: Entry = _entry,
) -> float:
    total = sum(slots(window, tokens, sinks, slack) for window in shape.windows)
    return batch * total * entry(shape, number)


def _with(**parts: Any) -> dict[str, Any]:
    def planned(
        shape: Shape, tokens: int, batch: int = 1, sinks: int = 0, slack: int = 0, number: float = 2
    ) -> float:
        return _planned(shape, tokens, batch, sinks, slack, number, **parts)

    return answers(planned_bytes=planned)


def _if_sliding(slots: Callable[[int, int, int, int], float]) -> dict[str, Any]:
    return _with(slots=lambda w, n, s, k: n if w is None else slots(w, n, s, k))


def _one_request(shape: Shape, tokens: int, batch: int = 1, *rest: Any, **named: Any) -> float:
    return _planned(shape, tokens, 1, *rest, **named)


def _one_window(shape: Shape, *rest: Any, **named: Any) -> float:
    first = Shape(
        (shape.windows[0],) * len(shape.windows), shape.heads, shape.kv_heads, shape.head_dim
    )
    return _planned(first, *rest, **named)


def _kinds(shape: Shape, *rest: Any, **named: Any) -> float:
    kinds = tuple(dict.fromkeys(shape.windows))
    return _planned(Shape(kinds, shape.heads, shape.kv_heads, shape.head_dim), *rest, **named)


def _batch_in_the_window(
    shape: Shape, tokens: int, batch: int = 1, sinks: int = 0, slack: int = 0, number: float = 2
) -> float:
    return _planned(shape, batch * tokens, 1, sinks, slack, number)


def _in_gib(*args: Any, **named: Any) -> float:
    return _planned(*args, **named) / GIB


def _cases(rng: Random) -> list[Case]:
    asked = [
        "Shape([None, None], 4, 4, 8), 100",
        "Shape([None], 8, 2, 16), 10, batch=3",
        "Shape([8, None], 4, 2, 8), 100",
        "Shape([8, 8, None], 4, 2, 8), 100, sinks=2, slack=3",
        "Shape([8, None], 4, 1, 8), 5, sinks=2, slack=3",
        "Shape([8, 8], 2, 2, 4), 9, sinks=2, slack=3",
        "Shape([8, 20], 4, 2, 8), 12, batch=5, sinks=1",
        "Shape([4, None], 6, 3, 2), 50, slack=6, number=0.5",
        "Shape([None, 4], 2, 1, 64), 7, batch=2, sinks=4, number=4",
        "SEVEN, 32768",
        "GEMMA, 32768, batch=8, sinks=4, number=1",
    ]
    layers: list[int | None] = [rng.randrange(3, 40) for _ in range(rng.randrange(2, 4))]
    layers.insert(rng.randrange(1, len(layers)), None)
    kept = f"sinks={rng.randrange(1, 6)}, slack={rng.randrange(1, 9)}"
    asked.append(
        f"Shape({layers}, 8, {rng.choice([1, 2, 4])}, 64), {rng.randrange(60, 900)}, "
        f"batch={rng.randrange(2, 9)}, {kept}, number={rng.choice([0.5, 1, 2])}"
    )
    return [call_case(f"planned_bytes({one})", "planned_bytes") for one in asked]


CACHE = Exercise(
    id="bg1-cache",
    names=("planned_bytes",),
    cases=_cases,
    reference=answers(planned_bytes),
    mutants=(
        Mutant(
            "all-global",
            "every layer is thought to keep every token: a sliding one has a ring",
            _with(slots=lambda w, n, s, k: n),
        ),
        Mutant(
            "sliding-left-out",
            "sliding layers are left out: a ring takes memory, too",
            _if_sliding(lambda w, n, s, k: 0),
        ),
        Mutant(
            "globals-left-out",
            "the layers without a window are left out: they keep every token",
            _with(slots=lambda w, n, s, k: 0 if w is None else _slots(w, n, s, k)),
        ),
        Mutant(
            "whole-ring",
            "a ring has all its slots even where no request is that long: n tokens fill n slots "
            "at most",
            _if_sliding(lambda w, n, s, k: s + w + k),
        ),
        Mutant(
            "ring-grows",
            "the larger of text and ring is taken: a ring stops growing when it is full",
            _if_sliding(lambda w, n, s, k: max(n, s + w + k)),
        ),
        Mutant(
            "sinks-forgotten",
            "the sinks have no slots of their own: they are not counted in W",
            _if_sliding(lambda w, n, s, k: min(n, w + k)),
        ),
        Mutant(
            "slack-forgotten",
            "the slack is left out: its slots are memory, whether they are read or not",
            _if_sliding(lambda w, n, s, k: min(n, s + w)),
        ),
        Mutant(
            "window-alone",
            "a ring has W slots and no more: sinks and slack have slots, too",
            _if_sliding(lambda w, n, s, k: min(n, w)),
        ),
        Mutant(
            "sinks-on-top",
            "sinks are added to what a ring holds of a short text: they are tokens of the text",
            _if_sliding(lambda w, n, s, k: min(n, w + k) + s),
        ),
        Mutant(
            "slack-on-top",
            "slack is added to what a ring holds of a short text: it stays empty until then",
            _if_sliding(lambda w, n, s, k: min(n, s + w) + k),
        ),
        Mutant(
            "both-on-top",
            "sinks and slack are added to what a ring holds of a short text: n tokens fill n "
            "slots at most",
            _if_sliding(lambda w, n, s, k: min(n, w) + s + k),
        ),
        Mutant(
            "sinks-in-global-layers",
            "global layers get sinks and slack as well: they keep every token as it is",
            _with(slots=lambda w, n, s, k: n + s + k if w is None else _slots(w, n, s, k)),
        ),
        Mutant(
            "first-for-all",
            "every layer is counted like the first: each has its own window",
            answers(planned_bytes=_one_window),
        ),
        Mutant(
            "kinds",
            "layers of the same window are counted once: each layer has its own keys and values",
            answers(planned_bytes=_kinds),
        ),
        Mutant(
            "query-heads",
            "a key is counted for each query head: query heads share the keys of `kv_heads` heads",
            _with(entry=lambda shape, b: 2 * shape.heads * shape.head_dim * b),
        ),
        Mutant(
            "one-head",
            "one key/value head is counted: there are `kv_heads`",
            _with(entry=lambda shape, b: 2 * shape.head_dim * b),
        ),
        Mutant(
            "keys-alone",
            "only the keys are counted: values are kept, too",
            _with(entry=lambda shape, b: shape.kv_heads * shape.head_dim * b),
        ),
        Mutant(
            "numbers",
            "numbers are counted in place of bytes",
            _with(entry=lambda shape, b: 2 * shape.kv_heads * shape.head_dim),
        ),
        Mutant(
            "whole-bytes",
            "the bytes of a number are cut to a whole number: 4 bits are half a byte",
            _with(entry=lambda shape, b: 2 * shape.kv_heads * shape.head_dim * int(b)),
        ),
        Mutant(
            "one-request",
            "one request is counted: each of the batch has its own cache",
            answers(planned_bytes=_one_request),
        ),
        Mutant(
            "one-ring-for-all",
            "the batch is counted as one long text in one ring: each request has its own",
            answers(planned_bytes=_batch_in_the_window),
        ),
        Mutant("gib", "the result is in GiB: give bytes", answers(planned_bytes=_in_gib)),
    ),
)
