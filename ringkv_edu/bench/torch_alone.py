"""What one write costs whatever the window is, and what a step costs the longer a text gets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import torch

from .machine import clock
from .measure import Call, Timing, timings
from .torch_attentions import Attention, candidates
from .torch_compare import Token, plain, tokens
from .torch_options import Options
from .torch_peers import Growing, Linear, Peer, Ring

__all__ = ["growth", "lengths", "writes"]

SHORTEST = 64  # tokens seen, where the growth begins
WINDOW = 1024  # of the ring that a growing cache is compared with, or the next shorter
IN_A_ROW = 5  # writes of one window: the first warms what the others left cold
ROUNDS = 3


def writes(options: Options, kv_heads: int) -> list[dict[str, Any]]:
    """Measure the writes that move nothing, all windows taking turns."""
    pool = cycle(tokens(options, kv_heads))
    kinds: tuple[type[Peer], ...] = (Ring, Linear)
    peers = {
        (kind.name, window): kind(*_filled(options, kv_heads, window))
        for kind in kinds
        for window in options.windows
    }
    found = timings(
        {key: _write(peer, pool) for key, peer in peers.items()},
        options.seconds / 2,
        in_a_row=IN_A_ROW,
        rounds=ROUNDS,
        before={key: peer.prepare for key, peer in peers.items()},
        clock=clock(options.device),
    )
    return [
        {"peer": name, "kv_heads": kv_heads, "window": window} | plain(timing)
        for (name, window), timing in found.items()
    ]


def growth(options: Options) -> dict[str, Any]:
    """Measure a step after more and more tokens: a ring, and a cache that keeps them all."""
    kv_heads = options.kv_heads[0]
    window = max([w for w in options.windows if w <= WINDOW], default=options.windows[0])
    points = lengths(options)
    rows = []
    for seen in points:
        found = _after(options, kv_heads, window, seen, options.seconds / len(points))
        rows.append({"seen": seen, **found})
    return {"kv_heads": kv_heads, "window": window, "rows": rows}


def lengths(options: Options) -> list[int]:
    """Give how many tokens have been seen when the growth is measured."""
    longest = options.windows[-1]
    points = [SHORTEST << i for i in range(20) if SHORTEST << i < longest]
    return [*points[-8:], longest]


def _after(
    options: Options, kv_heads: int, window: int, seen: int, seconds: float
) -> dict[str, Any]:
    pool = cycle(tokens(options, kv_heads))
    keys, values = _filled(options, kv_heads, seen)
    ring, growing = Ring(keys, values, window), Growing(keys, values)
    offered = candidates(options.device)
    things: dict[str, Call] = {"": _step(ring, pool, offered["course"])}
    things |= {name: _step(growing, pool, attend) for name, attend in offered.items()}
    before = {"": ring.prepare} | dict.fromkeys(offered, growing.prepare)
    found = timings(things, seconds, rounds=ROUNDS, before=before, clock=clock(options.device))
    ours: Timing = found.pop("")
    best = min(found, key=lambda name: found[name].least)
    return {
        Ring.name: plain(ours) | {"attention": "own"},
        Growing.name: plain(found[best]) | {"attention": best},
    }


def _filled(options: Options, kv_heads: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    shape = (1, kv_heads, n, options.head_dim)
    keys, values = (
        torch.randn(shape, dtype=options.torch_dtype, device=options.device) for _ in range(2)
    )
    return keys, values


def _write(peer: Peer, pool: Iterator[Token]) -> Call:
    return lambda: peer.write(*next(pool)[1:])


def _step(peer: Peer, pool: Iterator[Token], attend: Attention) -> Call:
    return lambda: peer.step(*next(pool), attend)
