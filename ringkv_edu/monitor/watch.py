"""Records a decode step by step, as JSON lines.

A log holds runs, each known by its name. Lines have an ``event``::

    run     what was run: declared sizes of each layer, bytes of weights, rows, budget, clock
    first   the text's first tokens: their keys and values
    step    kind (prefill, decode), n tokens, seen so far, seconds, bytes, reserved, held and
            summaries (a layer each), nll, difference from a run that keeps everything; at some
            steps, which are not timed, what is inside
    alarm   memory creeps
    stop    the run ended before its text did, and why (out of memory)
    end     the text ended

Source: S13, S21, S38, S45.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from ..evaluate.contender import CHUNK, Contender, pieces, total_bytes
from ..evaluate.guard import Creep
from ..evaluate.lines import Lines
from ..policies import Full, Policy
from .caches import capacity_of, counts_of, declared, held, reserved
from .inside import inside, wrapped

__all__ = ["FORMAT", "Monitor", "record"]

Tensor = torch.Tensor
FORMAT = 1
FIRST = 4  # tokens of the text that are looked at apart: they become sinks by themselves
Say = Callable[[str], None]


class Monitor:
    """Steps a contender and writes a line for each step.

    ``every``: how many steps lie between two looks inside. ``budget``: bytes that the caches may
    take; beyond them the run stops as out of memory, which ``stopped`` then says.
    """

    def __init__(
        self,
        one: Contender,
        log: Lines,
        batch: int = 1,
        run: str = "run",
        every: int = 16,
        budget: int | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.one, self.log, self.run, self.every = one, log, run, every
        self.budget, self.clock = budget, clock
        self.caches, self.batch = one.caches(batch), batch
        self.seen = self.steps = 0
        self.stopped: str | None = None
        self.layers = [declared(policy) for policy in _policies(one)]
        sizes = [capacity_of(layer) for layer in self.layers]
        self.creep = None if None in sizes else Creep(max(n for n in sizes if n is not None))
        self._write("run", **self._head())

    def _head(self) -> dict[str, Any]:
        weights = list(self.one.model.parameters())
        config = self.one.model.config
        one = 2 * config.kv_heads * config.head_dim * weights[0].element_size()
        return {
            "format": FORMAT,
            "name": self.one.name,
            "layers": self.layers,
            "batch": self.batch,
            "weight_bytes": sum(x.numel() * x.element_size() for x in weights),
            "token_bytes": one * config.layers,
            "budget": self.budget,
            "clock": getattr(self.clock, "__name__", type(self.clock).__name__),
        }

    def look_at_first(self, tokens: Tensor) -> None:
        """Look at the keys and values of the text's first tokens, which depend on nothing else."""
        layers = wrapped(self.one.caches(len(tokens)), FIRST)
        self.one.model.step(tokens[:, :FIRST], layers, last=True)
        self._write("first", n=min(FIRST, tokens.shape[1]), **inside(layers))

    def step(self, tokens: Tensor, kind: str = "decode") -> Tensor:
        """Take the next tokens (batch, n), in chunks; give the logits (batch, n, vocab)."""
        looking = kind == "decode" and self.every > 0 and self.steps % self.every == self.every - 1
        layers = wrapped(self.caches, FIRST) if looking else self.caches
        start = self.clock()
        out = [self.one.model.step(part, layers) for part in pieces(tokens, CHUNK)]
        seconds = self.clock() - start
        self.seen += tokens.shape[1]
        self.steps += kind == "decode"
        self.latest: dict[str, Any] = {
            "kind": kind,
            "n": tokens.shape[1],
            "seen": self.seen,
            "seconds": None if looking else seconds,
            "batch": len(tokens),
            **self._memory(),
        }
        if looking:
            self.latest["inside"] = inside(layers)  # type: ignore[arg-type]
        return torch.cat(out, 1)

    def _memory(self) -> dict[str, Any]:
        nbytes = total_bytes(self.caches)
        counts = [counts_of(cache) for cache in self.caches]
        if self.budget is not None and nbytes > self.budget:
            self.stopped = f"out of memory: the caches take {nbytes} bytes of {self.budget}"
        return {
            "bytes": nbytes,
            "reserved": reserved(self.caches),
            "held": [held(cache) for cache in self.caches],
            "summaries": None if all(c is None for c in counts) else counts,
        }

    def note(self, **more: Any) -> None:
        """Write the line of the latest step, with what others know of it (nll, difference)."""
        self._write("step", **self.latest, **more)
        if self.creep and self.creep.alarm is None:
            alarm = self.creep.note(self.seen, self.latest["bytes"] // self.latest["batch"])
            if alarm:
                self._write("alarm", says=alarm)
        if self.stopped:
            self._write("stop", says=self.stopped, seen=self.seen)

    def end(self) -> None:
        """Write that the text has ended."""
        self._write("end", seen=self.seen)

    def _write(self, event: str, **what: Any) -> None:
        self.log.write({"event": event, "run": self.run, **what})


def _policies(one: Contender) -> list[Policy]:
    blocks: Any = one.model.blocks
    own: list[Policy] = [block.attention.policy for block in blocks]
    given = one.policies
    if given is None:
        return own
    return [given] * len(own) if isinstance(given, Policy) else list(given)


@torch.no_grad()
def record(
    one: Contender,
    tokens: Tensor,
    path: Path | str,
    prompt: int = 16,
    reference: bool = True,
    every: int = 16,
    budget: int | None = None,
    clock: Callable[[], float] = perf_counter,
    rows: int | None = None,
    between: Callable[[int, Monitor], None] | None = None,
    say: Say = lambda text: None,
) -> None:
    """Record a contender on ``tokens`` (batch, n): a prefill of ``prompt``, then token by token.

    With ``reference`` the same model with everything kept reads along, as a run of its own, and
    every step notes how far the logits differ. It begins with the first ``rows`` rows (all, if not
    said); ``between`` is called before each decode step and may change the monitor's ``batch``.
    Appends to ``path``; raises ``ValueError`` for a prompt that leaves nothing to decode.
    """
    n = tokens.shape[1]
    if not 1 <= prompt < n - 1:
        raise ValueError(f"prompt is {prompt} of {n} tokens; leave two or more to decode")
    batch = rows or len(tokens)
    with Lines(path) as log:
        own = Monitor(one, log, batch, "run", every, budget, clock)
        full = Contender("full", one.model, Full())
        beside = Monitor(full, log, batch, "reference", every, None, clock) if reference else None
        own.look_at_first(tokens[:batch])
        for at in (0, *range(prompt, n - 1)):
            part = tokens[:, :prompt] if at == 0 else tokens[:, at : at + 1]
            wanted = tokens[:, at + part.shape[1]]
            kind = "decode" if at else "prefill"
            if between and at:
                between(at, own)
            _one_step(own, beside, part[: own.batch], wanted, kind)
            if at % 64 == 0:
                say(f"token {at} of {n}")
            if own.stopped:
                return
        own.end()
        if beside:
            beside.end()


def _one_step(
    own: Monitor, beside: Monitor | None, part: Tensor, wanted: Tensor, kind: str
) -> None:
    """Step the run and its reference, in turns first; write both lines."""
    turns = [own] if beside is None else [own, beside] if own.steps % 2 else [beside, own]
    logits = {one.run: one.step(part, kind)[:, -1].double() for one in turns}
    rows = len(part)
    nll = {
        run: float(-x.log_softmax(-1).gather(-1, wanted[:rows, None]).mean())
        for run, x in logits.items()
    }
    apart = None
    if beside is not None:
        scale = float(logits["reference"].abs().max())
        apart = float((logits["run"] - logits["reference"]).abs().max()) / max(scale, 1e-30)
        beside.note(nll=nll["reference"])
    own.note(nll=nll["run"], difference=apart)
