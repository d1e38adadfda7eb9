"""Train a tiny decoder on the recall task, one for each policy: a run takes less than a minute.

All are alike but for what their layers keep: two layers, width 64, 4 query heads on 2 key/value
heads, a window of 16 where there is one. A run is a fixed number of steps, chosen on seeds 0 to 2;
what is reported comes from others (``trained/results.json``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from . import recall
from .inputs import count
from .model import Config, Decoder
from .policies import Full, Policy, Pooled, Window

__all__ = ["CONFIG", "NAMED", "Named", "Run", "accuracy", "build", "train"]

Tensor = torch.Tensor
CONFIG = Config(
    vocab=recall.VOCAB, dim=64, layers=2, heads=4, kv_heads=2, head_dim=16, hidden=128,
    sink_logit=True,
)  # fmt: skip
BATCH, RATE, WARMUP = 32, 3e-3, 20
SEQUENCES = 2000


class Named(NamedTuple):
    """A policy for each layer, and for how many steps a model with them is trained."""

    policies: Sequence[Policy]
    steps: int


W = recall.WINDOW
NAMED: dict[str, Named] = {
    "full": Named([Full(), Full()], 300),
    "window": Named([Window(W), Window(W)], 600),
    "pooled": Named([Pooled(W, 0, 12, 4), Pooled(W, 0, 12, 4)], 600),
}


class Run(NamedTuple):
    """A trained model, its loss at every step, its accuracy, and what the training cost."""

    model: Decoder
    losses: list[float]
    accuracy: float
    cpu_seconds: float


def named(name: str) -> Named:
    """Give what goes by a name; raises ``ValueError`` for another one."""
    if name not in NAMED:
        raise ValueError(f"no policy is called {name!r}; there are {', '.join(NAMED)}")
    return NAMED[name]


def build(name: str, seed: int = 0) -> Decoder:
    """Make an untrained decoder with the policies of that name."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Decoder(CONFIG, named(name).policies)


def train(
    policy_name: str,
    seed: int,
    steps: int | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> Run:
    """Train a decoder on texts and weights from ``seed``; the loss is that of the answers alone.

    ``progress`` is told after each step: steps done, all steps, the loss.
    """
    wanted = count("steps", named(policy_name).steps if steps is None else steps, 1)
    model, start = build(policy_name, seed), time.process_time()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    losses = []
    texts = recall.batches(BATCH, seed)
    for step in range(wanted):
        for group in optimiser.param_groups:
            group["lr"] = RATE * schedule(step, wanted)
        loss = _loss(model, next(texts))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
        if progress:
            progress(step + 1, wanted, losses[-1])
    seconds = time.process_time() - start
    return Run(model.eval(), losses, accuracy(model, seed), seconds)


def schedule(step: int, steps: int) -> float:
    """Give the learning rate's share: up over the first steps, level, down over the last fifth."""
    return min(1.0, (step + 1) / WARMUP, max(0.05, 5 * (steps - step) / steps))


def _loss(model: Decoder, texts: recall.Texts) -> Tensor:
    logits = model(torch.from_numpy(texts.tokens))[:, -recall.QUESTIONS :]
    return functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(texts.answers).flatten())


@torch.no_grad()
def accuracy(
    model: Decoder, seed: int, sequences: int = SEQUENCES, decode: bool = False
) -> float:
    """Give the share of right answers on texts drawn from ``seed``: never those of the training.

    Whole texts at once, or with ``decode`` through caches, one token after the other.
    """
    texts = recall.draw(sequences, seed)
    right = 0
    for some in torch.from_numpy(texts.tokens).split(250):
        given = _decoded(model, some) if decode else model(some)[:, -recall.QUESTIONS :]
        right += int((given.argmax(-1).numpy() == texts.answers[: len(some)]).sum())
        texts = recall.Texts(texts.tokens, texts.answers[len(some) :])
    return right / (sequences * recall.QUESTIONS)


def _decoded(model: Decoder, tokens: Tensor) -> Tensor:
    caches: list[Any] = model.caches(len(tokens))
    out = [model.step(token, caches) for token in tokens.split(1, 1)]
    return torch.cat(out[-recall.QUESTIONS :], 1)
