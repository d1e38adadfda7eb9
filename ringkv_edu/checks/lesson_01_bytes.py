"""Lesson 01: what a cached token costs."""

from __future__ import annotations

from random import Random
from typing import Any

from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["BYTES"]


def cache_bytes(
    tokens: int, layers: int, kv_heads: int, head_dim: int, bytes_per_number: int
) -> int:
    """Count the bytes of keys and values, over all layers."""
    return 2 * tokens * layers * kv_heads * head_dim * bytes_per_number


def read_floor_ms(weight_bytes: float, kv_bytes: float, bytes_per_second: float) -> float:
    """Give the least milliseconds a decoded token takes: everything is read once."""
    return 1000 * (weight_bytes + kv_bytes) / bytes_per_second


def _bytes_cases(rng: Random) -> list[Case]:
    shapes = [(1, 32, 32, 128, 2), (16, 32, 8, 128, 1), (48, 30, 3, 64, 4)]
    shapes += [
        (
            rng.randrange(2, 64),
            rng.randrange(2, 49),
            rng.choice((2, 4, 8)),
            rng.choice((64, 96, 128)),
            rng.choice((1, 2, 4)),
        )
        for _ in range(2)
    ]
    traffic = [(13.5e9, 0.0, 1e12), (13.5e9, 17.2e9, 1e12), (13.5e9, 126_277_632, 1e12)]
    traffic += [(rng.randrange(1, 30) * 1e9, rng.randrange(1, 20) * 1e9, rng.choice((1e12, 2e12)))]
    return [_bytes_case(*shape) for shape in shapes] + [_floor_case(*t) for t in traffic]


def _bytes_case(*shape: int) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": answer.cache_bytes(*shape)}

    words = "{} tokens, {} layers, {} kv heads, head_dim {}, {} bytes a number".format(*shape)
    return Case(words, run)


def _floor_case(weights: float, kv: float, speed: float) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        return {"result": answer.read_floor_ms(weights, kv, speed)}

    return Case(
        f"{weights / 1e9:g} GB of weights, {kv / 1e9:g} GB of cache, {speed / 1e12:g} TB/s", run
    )


BYTES = Exercise(
    id="ex01-bytes",
    names=("cache_bytes", "read_floor_ms"),
    cases=_bytes_cases,
    reference=answers(cache_bytes, read_floor_ms),
    mutants=(
        Mutant(
            "one-token",
            "only one token is counted: each has a key and a value of its own",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * n * h * d * b),
        ),
        Mutant(
            "one-number",
            "head_dim is left out: a key is a vector of head_dim numbers",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * h * b),
        ),
        Mutant(
            "kibibytes",
            "the result is in KiB: give bytes",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * h * d * b / 1024),
        ),
        Mutant(
            "keys-only",
            "only the keys are counted: the values are cached as well",
            answers(cache_bytes=lambda t, n, h, d, b: t * n * h * d * b),
        ),
        Mutant(
            "one-layer",
            "only one layer is counted: every layer has its own cache",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * h * d * b),
        ),
        Mutant(
            "one-head",
            "only one head is counted",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * d * b),
        ),
        Mutant(
            "numbers",
            "numbers are counted in place of bytes",
            answers(cache_bytes=lambda t, n, h, d, b: 2 * t * n * h * d),
        ),
        Mutant(
            "cache-only",
            "the weights are left out: every decoded token reads them, too",
            answers(read_floor_ms=lambda w, kv, s: 1000 * kv / s),
        ),
        Mutant(
            "weights-only",
            "the cache is left out of what is read",
            answers(read_floor_ms=lambda w, kv, s: 1000 * w / s),
        ),
        Mutant(
            "seconds",
            "the result is in seconds, not in milliseconds",
            answers(read_floor_ms=lambda w, kv, s: (w + kv) / s),
        ),
    ),
)
