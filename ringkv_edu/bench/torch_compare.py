"""One size of `ringkv bench torch`: the ring and every peer in one loop, call by call.

First every peer tries every attention on offer; those within a tenth of its best go on. Then the
ring's step, the peers' steps with those, all their writes and plain reading take turns, and the
quickest step of each peer counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle
from typing import Any

import torch

from ..problem import Problem
from .foreign_peers import MLX_DTYPES, Dynamic, MlxPeer, Static
from .machine import clock, read, room
from .measure import Call, Timing, timings
from .torch_attentions import Attention, candidates
from .torch_options import Options
from .torch_peers import Growing, Linear, Peer, Ring, Rolled, Sliced
from .torch_tokens import filling, tokens

__all__ = ["PEERS", "check_room", "compare", "plain"]

Tensor = torch.Tensor
Key = tuple[str, str, str]  # what is timed: "step", "write", "move" ...; of whom; with what
PEERS: tuple[type[Peer], ...] = (Growing, Sliced, Rolled, Linear, Dynamic, Static)
SHARES = (0.35, 0.45, 0.2)  # of the time: to choose an attention for each peer, steps, writes
IN_A_ROW = 2  # calls a turn: the first finds what the others have left in the caches
LEAST = 2  # sizes that must find room: the ring, and the data that all are filled with
ROUNDS = (2, 7, 5)  # at least
OFF = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 3e-2, "float16": 5e-3}  # of the largest


class Comparison:
    """Everything that takes turns at one size."""

    def __init__(self, options: Options, kv_heads: int, window: int) -> None:
        self.options, self.kv_heads, self.window = options, kv_heads, window
        self.offered = candidates(options.device)
        self.left_out: list[str] = []
        self.peers: dict[str, Peer] = {}
        self.mlx: MlxPeer | None = None
        self.size = window * options.token(kv_heads)
        self.room = room(options.device) - LEAST * self.size
        self.keys, self.values = filling(options, kv_heads, window)
        self._tokens = tokens(options, kv_heads)
        self._next = cycle(self._tokens[1:])
        self._gather()

    def _fits(self, kind: type[Peer] | type[MlxPeer]) -> bool:
        """Take a peer's memory from what is left, if it is enough."""
        holds, need = kind.holds * self.size, (kind.holds + kind.spare) * self.size
        if need <= self.room:
            self.room -= int(holds)
            return True
        need, left = need / 2**30, self.room / 2**30
        self.left_out.append(f"{kind.name}: it needs {need:.2f} GiB, and {left:.2f} GiB are left")
        return False

    def _gather(self) -> None:
        """Make the ring and the peers, and let each decode one token: all must agree."""
        first = self._tokens[0]
        self.ring = Ring(self.keys, self.values)
        expected = self.ring.step(*first).double()
        for kind in PEERS:
            if _installed(kind.package, self.left_out, kind.name) and self._fits(kind):
                with _trouble(kind.name, self.left_out):
                    peer = kind(self.keys, self.values)
                    if self._agrees(kind.name, peer.step(*first, self.offered["sdpa"]), expected):
                        self.peers[kind.name] = peer
        if self._mlx_can() and self._fits(MlxPeer):
            with _trouble(MlxPeer.name, self.left_out):
                mlx = MlxPeer(self.keys, self.values, self._tokens)
                if self._agrees(MlxPeer.name, mlx.given(mlx.step()), expected):
                    self.mlx = mlx

    def _agrees(self, name: str, out: Tensor, expected: Tensor) -> bool:
        off = float((out.double() - expected).abs().max() / expected.abs().max())
        if off <= OFF[self.options.dtype]:
            return True
        self.left_out.append(f"{name}: its output is off by {off:.1e} of the largest number")
        return False

    def _mlx_can(self) -> bool:
        name, dtype = MlxPeer.name, self.options.dtype
        if self.options.device != "cpu":
            self.left_out.append(f"{name}: it is measured on the CPU only")
        elif self.options.torch_dtype not in MLX_DTYPES:
            self.left_out.append(f"{name}: not for {dtype}")
        else:
            return _installed(MlxPeer.package, self.left_out, name)
        return False

    # What takes turns.

    def steps(self, chosen: dict[str, list[str]]) -> dict[Key, Call]:
        """Give the steps: the ring's, and each peer's with some of the attentions."""
        things: dict[Key, Call] = {}
        things["step", Ring.name, ""] = lambda: self.ring.step(*next(self._next))
        for name, peer in self.peers.items():
            for attention in chosen[name]:
                things["step", name, attention] = self._step(peer, self.offered[attention])
        if self.mlx:
            things["step", MlxPeer.name, ""] = self.mlx.step
        return things

    def _step(self, peer: Peer, attend: Attention) -> Call:
        return lambda: peer.step(*next(self._next), attend)

    def _write(self, peer: Peer) -> Call:
        return lambda: peer.write(*next(self._next)[1:])

    def _attend(self, attend: Attention) -> Call:
        return lambda: attend(next(self._next)[0], self.ring.keys, self.ring.values)

    def attentions(self) -> dict[Key, Call]:
        """Give the attentions alone, over the ring's slots."""
        return {("attend", "", name): self._attend(attend) for name, attend in self.offered.items()}

    def reading(self) -> dict[Key, Call]:
        """Give plain reading."""
        return {("read", "", ""): lambda: (read(self.keys), read(self.values))}

    def writes(self) -> dict[Key, Call]:
        """Give the writes alone, and the moves.

        They are timed apart from the steps: a peer's step that follows its own copy finds its keys
        in a cache.
        """
        things: dict[Key, Call] = {}
        for name, peer in {Ring.name: self.ring, **self.peers}.items():
            things["write", name, ""] = self._write(peer)
            if isinstance(peer, Linear):
                things["move", name, ""] = peer.move
        if self.mlx:
            things["write", MlxPeer.name, ""] = self.mlx.write
        return things

    def before(self, things: dict[Key, Call]) -> dict[Key, Call]:
        """Give what is to be done, untimed, before each call of each."""
        prepared: dict[Key, Call] = {}
        for key in things:
            peer = self.peers.get(key[1])
            if isinstance(peer, Linear) and key[0] == "move":
                prepared[key] = peer.fill
            elif peer:
                prepared[key] = peer.prepare
        return prepared


def check_room(options: Options) -> None:
    """Raise ``Problem`` when the largest ring does not fit into memory."""
    need = LEAST * options.windows[-1] * options.token(options.kv_heads[-1])
    have = room(options.device)
    if need > have:
        raise Problem(
            f"window {options.windows[-1]} with {options.kv_heads[-1]} key/value heads needs "
            f"{need / 2**30:.2f} GiB, and {have / 2**30:.2f} GiB may be used; "
            f"give smaller --windows or --kv-heads"
        )


def compare(options: Options, kv_heads: int, window: int) -> dict[str, Any]:
    """Measure one size; times are in microseconds."""
    these = Comparison(options, kv_heads, window)
    everything = {name: list(these.offered) for name in these.peers}
    first = _timed(these, these.steps(everything) | these.attentions(), options, 0)
    chosen = {}
    for name in these.peers:
        # One for each: whoever had more turns would more often find its own keys in a cache.
        chosen[name] = [min(these.offered, key=lambda a: first["step", name, a].least)]
    second = _timed(these, these.steps(chosen) | these.reading(), options, 1)
    second |= _timed(these, these.writes(), options, 2)
    return {
        "kv_heads": kv_heads,
        "window": window,
        "kv_bytes": these.size,
        "read": plain(second["read", "", ""]),
        "rows": [*_rows(these, first, second)],
        "attention_alone": {a: plain(first["attend", "", a]) for a in these.offered},
        "left_out": these.left_out,
    }


def _timed(
    these: Comparison, things: dict[Key, Call], options: Options, part: int
) -> dict[Key, Timing]:
    return timings(
        things,
        options.seconds * SHARES[part],
        in_a_row=IN_A_ROW,
        rounds=ROUNDS[part],
        before=these.before(things),
        clock=clock(options.device),
    )


def _rows(
    these: Comparison, first: dict[Key, Timing], second: dict[Key, Timing]
) -> Iterator[dict[str, Any]]:
    """Give what is known of the ring and of each peer, the ring first."""
    token = these.options.token(these.kv_heads)
    kinds: list[Any] = [Ring, *map(type, these.peers.values()), *([MlxPeer] if these.mlx else [])]
    ring = second["step", Ring.name, ""]
    for kind in kinds:
        name = kind.name
        tried = {key[2]: timing for key, timing in second.items() if key[:2] == ("step", name)}
        attention = min(tried, key=lambda a: tried[a].least)
        step, write = plain(tried[attention]), plain(second["write", name, ""])
        row: dict[str, Any] = {"peer": name, "attention": attention or "own"}
        if kind is Linear:
            row["move"] = plain(second["move", name, ""])
            row["step_without_move"], row["write_without_move"] = step, write
            step, write = (
                _with_share(timing, row["move"], these.peers[name]) for timing in (step, write)
            )
        read_bytes, written_bytes = kind.moved(these.window, token)
        row |= {"write": write, "step": step}
        row |= {"bytes_read": read_bytes, "bytes_written": written_bytes}
        row["to_ring"] = step["least_us"] / ring.least
        row["to_ring_first"] = step["first_us"] / ring.first
        row["to_read"] = step["least_us"] / second["read", "", ""].least
        row["tried"] = {a: plain(first["step", name, a]) for a in these.offered if attention}
        yield row


def _with_share(timing: dict[str, float], move: dict[str, float], peer: Any) -> dict[str, float]:
    shared = {n: timing[n] + peer.share * move[n] for n in timing if n != "calls"}
    return timing | shared


def plain(timing: Timing) -> dict[str, float]:
    """Give a timing as JSON has it."""
    return {
        "least_us": timing.least,
        "median_us": timing.median,
        "first_us": timing.first,
        "calls": timing.calls,
    }


def _installed(package: str, left_out: list[str], name: str) -> bool:
    try:
        if package:
            version(package)
        return True
    except PackageNotFoundError:
        left_out.append(f"{name}: {package} is not installed (pip install {package})")
        return False


@contextmanager
def _trouble(name: str, left_out: list[str]) -> Iterator[None]:
    """Leave out what another release of somebody's package cannot do, and say so."""
    try:
        yield
    except Exception as error:
        left_out.append(f"{name}: {type(error).__name__}: {str(error)[:80]}")
