"""Train a tiny decoder on the recall task, one for each policy; a run takes about a minute.

All are alike but for what their layers keep: two layers, width 64, 4 query heads on 2 key/value
heads, and a window of 16 where there is one. A run is a fixed number of steps, settled on seeds 0
to 2. What is reported and shipped comes from seeds 100 to 102 (``trained/results.json``). A window
alone gets 600 steps; what it begins to do in the 1,200 of the summaries is told there, too.

A model is told nothing about its cache but what training through it says: these models are no proof
of what a policy does to a model that was trained with full attention.

Source: the task is ``ringkv_edu.recall``; AdamW (arXiv 1711.05101).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from . import recall
from .inputs import count
from .model import Config, Decoder
from .policies import Full, Learned, Policy, Pooled, Recompute, State, Window

__all__ = [
    "CONFIG", "NAMED", "TRAINED", "Named", "Run", "accuracy", "build", "load", "right",
    "save", "train",
]  # fmt: skip

Tensor = torch.Tensor
CONFIG = Config(
    vocab=recall.VOCAB, dim=64, layers=2, heads=4, kv_heads=2, head_dim=16, hidden=128,
    sink_logit=True,
)  # fmt: skip
BATCH, RATE, WARMUP = 32, 3e-3, 20
EMBEDDING = 0.1  # its spread at the start; with the decoder's 0.02 the answers are found late
TEXTS, TOGETHER = 2000, 250  # how many an accuracy is measured on, how many go at once
TRAINED = Path(__file__).with_name("trained")


class Named(NamedTuple):
    """A policy for each layer, and for how many steps a model with them is trained.

    ``first`` are the policies of the first half of the steps, if others: which tokens a query
    chooses has no gradient, so choosing is learned while every token is chosen.
    """

    policies: Sequence[Policy]
    steps: int
    first: Sequence[Policy] | None = None


W = recall.WINDOW
NAMED: dict[str, Named] = {
    "full": Named([Full(), Full()], 300),
    "window": Named([Window(W), Window(W)], 600),
    "pooled": Named([Pooled(W, 0, 12, 4), Pooled(W, 0, 12, 4)], 1200),
    "learned": Named([Learned(W, 0, 12, 4), Learned(W, 0, 12, 4)], 1200),
    "state": Named([State(W), State(W)], 1200),
    "recompute": Named([Recompute(W, 4), Window(W)], 600, [Recompute(W, recall.LENGTH), Window(W)]),
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
        raise ValueError(f"no policy is called {name!r}; give one of {', '.join(NAMED)}")
    return NAMED[name]


def build(name: str, seed: int = 0) -> Decoder:
    """Make an untrained decoder with the policies of that name; torch's own seed stays."""
    policies, number = named(name).policies, count("seed", seed, 0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number)
        model = Decoder(CONFIG, policies)
        nn.init.normal_(model.embed.weight, std=EMBEDDING)
    return model


def train(
    policy_name: str,
    seed: int,
    steps: int | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> Run:
    """Train a decoder on texts and weights from ``seed``; only answers count in the loss.

    ``progress`` is told after each step: steps done, all steps, the loss in nats.
    """
    usual = named(policy_name).steps
    wanted = usual if steps is None else count("steps", steps, 1)
    model, losses, start = build(policy_name, seed), [], time.process_time()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step, texts in zip(range(wanted), recall.batches(BATCH, seed), strict=False):
        _keep(model, named(policy_name), first=2 * step < wanted)
        for group in optimiser.param_groups:
            group["lr"] = RATE * schedule(step, wanted)
        loss = _loss(model, texts)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
        if progress:
            progress(step + 1, wanted, losses[-1])
    _keep(model, named(policy_name), first=False)
    seconds = time.process_time() - start
    return Run(model, losses, accuracy(model, seed, TEXTS), seconds)


def schedule(step: int, steps: int) -> float:
    """Give the learning rate's share: up in the first steps, then level, down in the last fifth."""
    return min(1.0, (step + 1) / WARMUP, max(0.05, 5 * (steps - step) / steps))


def _keep(model: Decoder, what: Named, first: bool) -> None:
    """Let the layers keep what they keep in this part of the training."""
    policies = what.first if first and what.first else what.policies
    for block, policy in zip(model.blocks, policies, strict=True):
        block.attention.policy = policy  # type: ignore[union-attr]


def _loss(model: Decoder, texts: recall.Texts) -> Tensor:
    logits = model(torch.from_numpy(texts.tokens))[:, -recall.QUESTIONS :]
    return functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(texts.answers).flatten())


def accuracy(model: Decoder, seed: int, sequences: int = TEXTS, decode: bool = False) -> float:
    """Give the share of right answers on texts drawn from ``seed``, none of them trained on.

    Whole texts at once or, with ``decode``, through caches, one token after the other. The answer
    is the token with the highest logit of all.
    """
    return float(right(model, recall.draw(sequences, seed), decode).mean())


@torch.no_grad()
def right(model: Decoder, texts: recall.Texts, decode: bool = False) -> npt.NDArray[np.bool_]:
    """Say which answers of texts are right, (n, 8): see ``accuracy``."""
    some = [torch.split(torch.from_numpy(x), TOGETHER) for x in texts]
    found = _decoded if decode else _whole
    each = zip(*some, strict=True)
    return np.concatenate([(found(model, x).argmax(-1) == y).numpy() for x, y in each])


def _whole(model: Decoder, tokens: Tensor) -> Tensor:
    out: Tensor = model(tokens)[:, -recall.QUESTIONS :]
    return out


def _decoded(model: Decoder, tokens: Tensor) -> Tensor:
    caches: list[Any] = model.caches(len(tokens))
    out = [model.step(token, caches) for token in torch.split(tokens, 1, 1)]
    return torch.cat(out[-recall.QUESTIONS :], 1)


def save(model: Decoder, name: str, file: Path, about: dict[str, Any] | None = None) -> None:
    """Write the weights of a decoder with the policies of that name, in float16.

    ``about`` (how it was trained) is written beside them, as JSON in the file's metadata.
    """
    from safetensors.torch import save_file

    named(name)
    weights = {key: x.detach().half().contiguous() for key, x in model.state_dict().items()}
    save_file(weights, file, {"policy": name, "about": json.dumps(about or {})})


def load(source: str | Path) -> Decoder:
    """Give a trained decoder in float32: by name, one of those shipped, or from a file of ``save``.

    Raises ``ValueError`` for what is neither.
    """
    from safetensors import SafetensorError, safe_open

    file = Path(source)
    if isinstance(source, str) and source in NAMED:
        file = TRAINED / f"{source}.safetensors"
    if not file.is_file():
        raise ValueError(
            f"{source} is neither a trained policy ({', '.join(NAMED)}) nor a file; make one "
            f"with `ringkv train NAME --out FILE`"
        )
    try:
        with safe_open(file, "pt") as held:
            name = (held.metadata() or {}).get("policy", "")
            weights = {key: held.get_tensor(key).float() for key in held.keys()}  # noqa: SIM118
        model = build(name)
        model.load_state_dict(weights)
    except (SafetensorError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"{file} holds no model of `ringkv train` ({str(error).splitlines()[0]})"
        ) from None
    return model
