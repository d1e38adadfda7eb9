"""What one write costs whatever the window is, and what a step costs the longer a text gets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from .machine import clock, room
from .measure import Call, Timing, timings
from .torch_attentions import Attention, candidates
from .torch_compare import plain
from .torch_options import Options
from .torch_peers import Growing, Linear, Peer, Ring
from .torch_tokens import Token, filling, tokens

__all__ = ["growth", "lengths", "writes"]

SHORTEST = 64  # tokens seen, where the growth begins
WINDOW = 1024  # of the ring that a growing cache is compared with, or the next shorter
IN_A_ROW = 5  # calls of one thing: the first warms what the others left cold
ROUNDS = 3
LEAST = 4  # sizes that must find room: data, a ring, a growing cache and the one that follows it


def writes(options: Options, kv_heads: int) -> list[dict[str, Any]]:
    """Measure the writes that move nothing, the windows taking turns; what fits into memory."""
    rows: list[dict[str, Any]] = []
    size = sum(options.windows) * options.token(kv_heads)
    for kind in (Ring, Linear):
        if (kind.holds + 1) * size <= room(options.device):
            rows += _writes(kind, options, kv_heads)
    return rows


def _writes(kind: type[Peer], options: Options, kv_heads: int) -> list[dict[str, Any]]:
    pool = cycle(tokens(options, kv_heads))
    peers = {window: kind(*filling(options, kv_heads, window)) for window in options.windows}
    found = timings(
        {window: _write(peer, pool) for window, peer in peers.items()},
        options.seconds / 4,
        in_a_row=IN_A_ROW,
        rounds=ROUNDS,
        before={window: peer.prepare for window, peer in peers.items()},
        clock=clock(options.device),
    )
    return [
        {"peer": kind.name, "kv_heads": kv_heads, "window": window} | plain(timing)
        for window, timing in found.items()
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
    """Give how many tokens have been seen when the growth is measured: what fits into memory."""
    most = room(options.device) // (LEAST * options.token(options.kv_heads[0]))
    longest = min(options.windows[-1], most)
    points = [SHORTEST << i for i in range(20) if SHORTEST << i < longest]
    return [*points[-8:], longest]


def _after(
    options: Options, kv_heads: int, window: int, seen: int, seconds: float
) -> dict[str, Any]:
    pool = cycle(tokens(options, kv_heads))
    keys, values = filling(options, kv_heads, seen)
    ring, growing = Ring(keys, values, window), Growing(keys, values)
    offered = candidates(options.device)
    things: dict[str, Call] = {"": _step(ring, pool, offered["course"])}
    things |= {name: _step(growing, pool, attend) for name, attend in offered.items()}
    before = {"": ring.prepare} | dict.fromkeys(offered, growing.prepare)
    found = timings(
        things,
        seconds,
        in_a_row=IN_A_ROW,
        rounds=ROUNDS,
        before=before,
        clock=clock(options.device),
    )
    ours: Timing = found.pop("")
    best = min(found, key=lambda name: found[name].least)
    return {
        Ring.name: plain(ours) | {"attention": "own"},
        Growing.name: plain(found[best]) | {"attention": best},
    }


def _write(peer: Peer, pool: Iterator[Token]) -> Call:
    return lambda: peer.write(*next(pool)[1:])


def _step(peer: Peer, pool: Iterator[Token], attend: Attention) -> Call:
    return lambda: peer.step(*next(pool), attend)
