"""The tuning path, every run logged: full, a large window, smaller ones, the summary interval.

    1. full             the baseline
    2. a large window   half the text: does the model bear a window at all?
    3. smaller windows  halved while the perplexity stays within the tolerance, and once more
    4. summaries        at the size that failed: do summaries, long blocks first, bring it back?

Every window stands beside the same sinks. A run with summaries has as many slots in all as the
window that failed: what the summaries take, the window gives.

The log has a line for each run, written when it ends. A sweep that was stopped goes on where it
stopped: runs that are in the log are not run again.

Source: S37.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ..model import Decoder
from ..policies import Full, Policy, Pooled, Sinks, Window
from ..problem import Problem
from .contender import Contender
from .lines import Lines
from .names import name_of
from .quality import quality
from .speed import speed

__all__ = ["Run", "Sweep", "sweep"]

Tensor = torch.Tensor
Say = Callable[[str], None]


@dataclass(frozen=True)
class Sweep:
    """What is swept. ``tolerance``: how much more perplexity than full is borne, as a share."""

    sinks: int = 4
    tolerance: float = 0.05
    smallest: int = 16
    summaries: int = 8
    blocks: tuple[int, ...] = (16, 8, 4)
    timed: int = 16  # decode steps that are timed after the text; 0 leaves the speed out
    seed: int = 0

    def window(self, size: int) -> Policy:
        """Give the policy of a window of ``size``."""
        return Sinks(size, self.sinks) if self.sinks else Window(size)


@dataclass(frozen=True)
class Run:
    """One line of the log."""

    stage: str
    policy: str
    perplexity: float
    cache_bytes: int
    more: float  # perplexity beyond full's, as a share of it
    within: bool  # the tolerance
    speed: dict[str, float] | None


def sweep(
    model: Decoder,
    text: Tensor,
    path: Path | str,
    what: Sweep | None = None,
    say: Say = lambda text: None,
) -> list[Run]:
    """Walk the path on ``text`` (1, n) and log it to ``path``; give all runs, first to last.

    Raises ``Problem`` when ``path`` holds the log of another sweep.
    """
    what = what or Sweep()
    if text.shape[1] < 4 * what.smallest:
        raise Problem(
            f"the text has {text.shape[1]} tokens; a sweep down to windows of {what.smallest} "
            f"needs {4 * what.smallest} or more"
        )
    with Lines(path, sync=True) as log:
        head = _head(model, text, what)
        done = _resumed(log, head)
        runs: list[Run] = []
        for stage, policy in _path(what, text.shape[1], runs):
            name = name_of(policy)
            run = done.get((stage, name))
            if run is None:
                say(f"{stage}: {name}")
                run = _run(model, text, what, stage, policy, runs[0] if runs else None)
                log.write({"event": "run", **asdict(run)})
            runs.append(run)
    return runs


def _head(model: Decoder, text: Tensor, what: Sweep) -> dict[str, Any]:
    """Say what a log belongs to: sizes, settings, and fingerprints of text and weights."""
    marks = hashlib.sha256(text.cpu().numpy().tobytes()).hexdigest()[:16]
    weights = hashlib.sha256()
    for name, x in model.state_dict().items():
        weights.update(name.encode() + x.detach().cpu().double().sum().numpy().tobytes())
    head = {"event": "sweep", "format": 1, "text": marks, "weights": weights.hexdigest()[:16],
            "model": asdict(model.config), "settings": asdict(what)}  # fmt: skip
    found: dict[str, Any] = json.loads(json.dumps(head))
    return found


def _resumed(log: Lines, head: dict[str, Any]) -> dict[tuple[str, str], Run]:
    """Give the runs that a log holds already; write its head when it is new."""
    if not log.kept:
        log.write(head)
        return {}
    first = log.kept[0]
    if first != head:
        keys = [k for k in head if first.get(k) != head[k]]
        raise Problem(
            f"{log.path} is the log of another sweep ({', '.join(keys)} differ); "
            f"give another file, or delete it"
        )
    runs = [Run(**{k: v for k, v in one.items() if k != "event"}) for one in log.kept[1:]]
    return {(run.stage, run.policy): run for run in runs}


def _path(what: Sweep, n: int, runs: list[Run]) -> Iterator[tuple[str, Policy]]:
    """Give what to run next; ``runs`` are those that were run, and grow on the way."""
    yield "full", Full()
    size = 1 << (n // 2).bit_length() - 1
    stage = "large window"
    while True:
        yield stage, what.window(size)
        if not runs[-1].within or size // 2 < what.smallest:
            break
        size, stage = size // 2, "smaller window"
    room = size - what.summaries
    if runs[-1].within or room < 1:
        return
    for block in what.blocks:
        yield "summary interval", Pooled(room, what.sinks, what.summaries, block)


def _run(
    model: Decoder, text: Tensor, what: Sweep, stage: str, policy: Policy, full: Run | None
) -> Run:
    name = name_of(policy)
    one = Contender(name, model, policy)
    found = quality([one], text)[name]
    perplexity = found.perplexity()
    more = perplexity / full.perplexity - 1 if full else 0.0
    timed = None
    if what.timed:
        timed = speed([one], text, new=what.timed, repeats=1, seed=what.seed)[name].as_dict()
    within = more <= what.tolerance
    return Run(stage, name, perplexity, found.peak_bytes, more, within, timed)


def smallest_within(runs: list[Run]) -> Run:
    """Give the run that keeps fewest bytes of those within the tolerance; full is always one."""
    return min((run for run in runs if run.within), key=lambda run: run.cache_bytes)
