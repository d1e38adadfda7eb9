"""What prefill and decode cost, apart, for contenders that take turns.

TTFT, the time to the first token: empty caches are made, the prompt goes in, the likeliest next
token comes out. TPOT, the time per further token: one decode step. Whatever else a machine does
disturbs all contenders alike: they prefill in shuffled order and then decode a few tokens each, in
an order that changes. The least is what a step needs, the median what it took.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import torch

from .contender import CHUNK, Contender, pieces, total_bytes

__all__ = ["Speed", "speed"]

Tensor = torch.Tensor
TURN = 4  # decode steps in a row
Say = Callable[[str], None]


@dataclass
class Speed:
    """Times of one contender at one prompt length, in seconds; bytes of all layers' caches."""

    prompt: int
    batch: int
    prefills: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    def as_dict(self) -> dict[str, float]:
        """Give the least and the median of both, and tokens per second at the median."""
        step = median(self.steps)
        return {
            "prompt": self.prompt,
            "batch": self.batch,
            "ttft_least_s": min(self.prefills),
            "ttft_median_s": median(self.prefills),
            "prefills": len(self.prefills),
            "tpot_least_s": min(self.steps),
            "tpot_median_s": step,
            "steps": len(self.steps),
            "tokens_per_s": self.batch / step,
            "peak_bytes": self.peak_bytes,
        }


def speed(
    who: Sequence[Contender],
    prompt: Tensor,
    new: int = 32,
    repeats: int = 3,
    chunk: int = CHUNK,
    seed: int = 0,
    clock: Callable[[], float] = perf_counter,
    say: Say = lambda text: None,
) -> dict[str, Speed]:
    """Measure all contenders on one ``prompt`` (batch, n): ``repeats`` prefills and decodes each.

    The first round is not counted: it pays for fresh pages and first calls.
    """
    if new < 1 or repeats < 1:
        raise ValueError(f"new is {new} and repeats {repeats}; give 1 or more of each")
    batch, n = prompt.shape
    found = {one.name: Speed(n, batch) for one in who}
    order, collecting = Random(seed), gc.isenabled()
    gc.disable()
    try:
        for turn in range(repeats + 1):
            say(f"{n} tokens, round {turn} of {repeats}")
            thrown = {one.name: Speed(n, batch) for one in who}
            _round(who, prompt, new, chunk, order, clock, found if turn else thrown)
            gc.collect()
    finally:
        if collecting:
            gc.enable()
    return found


def _round(
    who: Sequence[Contender],
    prompt: Tensor,
    new: int,
    chunk: int,
    order: Random,
    clock: Callable[[], float],
    found: dict[str, Speed],
) -> None:
    running: dict[str, tuple[list[Any], Tensor]] = {}
    for one in order.sample(list(who), len(who)):
        start = clock()
        caches = one.caches(len(prompt))
        logits = prompt
        for part in pieces(prompt, chunk):
            logits = one.model.step(part, caches, last=True)
        token = logits[:, -1].argmax(-1, keepdim=True)
        found[one.name].prefills.append(clock() - start)
        running[one.name] = caches, token
    for done in range(0, new, TURN):
        for one in order.sample(list(who), len(who)):
            caches, token = running[one.name]
            for _ in range(min(TURN, new - done)):
                start = clock()
                token = one.model.step(token, caches, last=True)[:, -1].argmax(-1, keepdim=True)
                found[one.name].steps.append(clock() - start)
            running[one.name] = caches, token
            note = found[one.name]
            note.peak_bytes = max(note.peak_bytes, total_bytes(caches))
