"""`ringkv bench numpy`: what one write, one decode step and one prefill cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..numpy_ring import NumpyRing, masked_attention
from .measure import fastest, table

__all__ = ["report"]

WINDOWS = (64, 256, 1024, 4096)
KV_HEADS, GROUP, HEAD_DIM = 8, 4, 64
PROMPT = 1024


def report(seconds: float) -> Iterator[str]:
    """Give the lines of the report; each comparison takes about ``seconds``."""
    sizes = f"{KV_HEADS} key/value heads of {HEAD_DIM}, float32, NumPy {np.__version__}"
    yield f"{sizes}; least time in microseconds"
    yield ""
    yield "One write of one token, by window"
    yield from _writes(seconds)
    yield ""
    yield f"One decode step with {KV_HEADS * GROUP} query heads, by window"
    yield from _steps(seconds)
    yield ""
    yield f"A prefill of {PROMPT} tokens into a window of 256"
    yield from _prefill(seconds)


def _writes(seconds: float) -> Iterator[str]:
    things: dict[str, Callable[[], object]] = {}
    for window in WINDOWS:
        k = _token()
        things[f"ring {window}"] = partial(_full(window).append, k, k)
        things[f"shift {window}"] = partial(_shift, _arrays(window), k)
        things[f"concat {window}"] = partial(_concatenate, _arrays(window), k)
    best = fastest(things, seconds)
    rows = []
    for name, says in (
        ("ring", "ring: one slot is written"),
        ("shift", "array that shifts in place"),
        ("concat", "new array, oldest left out"),
    ):
        times = [best[f"{name} {window}"] for window in WINDOWS]
        rows.append([says, *(f"{t:.1f}" for t in times), f"{times[2] / times[0]:.2f}x"])
    yield from table(["", *(f"W={w}" for w in WINDOWS), "W=1024 / W=64"], rows)


def _steps(seconds: float) -> Iterator[str]:
    rows: list[list[str]] = [
        ["ring, slot order, group folded"],
        ["ring put in order of time first"],
        ["keys and values repeated per query head"],
    ]
    for window in WINDOWS:
        ring, k = _full(window), _token()
        q = np.repeat(k, GROUP, axis=0)
        best = fastest(
            {
                "0": partial(ring.step, q, k, k),
                "1": partial(_in_order, _full(window), q, k),
                "2": partial(_repeated, _full(window), q, k),
            },
            seconds / len(WINDOWS),
        )
        for name, time in best.items():
            rows[int(name)].append(f"{time:.0f}")
    yield from table(["", *(f"W={w}" for w in WINDOWS)], rows)


def _prefill(seconds: float) -> Iterator[str]:
    rng = np.random.default_rng(0)
    q = rng.normal(size=(KV_HEADS * GROUP, PROMPT, HEAD_DIM)).astype(np.float32)
    k = rng.normal(size=(KV_HEADS, PROMPT, HEAD_DIM)).astype(np.float32)
    ring = NumpyRing(256, KV_HEADS, HEAD_DIM)

    def feed(chunk: int) -> None:
        ring.reset()
        for start in range(0, PROMPT, chunk):
            some = slice(start, start + chunk)
            ring.step(q[:, some], k[:, some], k[:, some])

    chunks = (PROMPT, 256, 64, 1)
    best = fastest({str(n): partial(feed, n) for n in chunks}, 2 * seconds)
    rows = [[f"in chunks of {n}", f"{best[str(n)] / 1000:.1f} ms"] for n in chunks]
    yield from table(["", "all"], rows)


def _token() -> Any:
    return np.ones((KV_HEADS, 1, HEAD_DIM), np.float32)


def _full(window: int) -> NumpyRing:
    ring = NumpyRing(window, KV_HEADS, HEAD_DIM)
    many = np.ones((KV_HEADS, window, HEAD_DIM), np.float32)
    ring.append(many, many)
    return ring


def _arrays(window: int) -> list[Any]:
    return [np.ones((KV_HEADS, window, HEAD_DIM), np.float32) for _ in range(2)]


def _shift(arrays: list[Any], k: Any) -> None:
    for stored in arrays:
        stored[:, :-1] = stored[:, 1:]
        stored[:, -1:] = k


def _concatenate(arrays: list[Any], k: Any) -> Any:
    return [np.concatenate([stored[:, 1:], k], axis=1) for stored in arrays]


def _in_order(ring: NumpyRing, q: Any, k: Any) -> Any:
    ring.append(k, k)
    order = np.argsort(ring.positions)
    mask = ring._mask(np.array([ring.seen - 1]), ring.positions[order])
    return masked_attention(q, ring.keys[:, order], ring.values[:, order], mask, HEAD_DIM**-0.5)


def _repeated(ring: NumpyRing, q: Any, k: Any) -> Any:
    ring.append(k, k)
    mask = ring._mask(np.array([ring.seen - 1]), ring.positions)
    keys, values = (np.repeat(x, GROUP, axis=0) for x in (ring.keys, ring.values))
    return masked_attention(q, keys, values, mask, HEAD_DIM**-0.5)
