"""Logs of runs in which something is really wrong, and of two in which nothing is.

Each is made by running a small model, never by writing numbers: a window larger than the text, a
cache that never evicts, a summary at every token. The model has random weights; the text is its
own (``own_text``), so that a run which keeps everything is right by construction. ``MAKERS`` names
them by the diagnosis they must get.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from ..evaluate.contender import Contender, full_of
from ..evaluate.tasks import own_text
from ..model import Config, Decoder
from ..policies import Full, Policy, Pooled, Sinks, Window
from .watch import Monitor, record
from .wrong import Listed, Spiked, TooOften, TurnedTwice
from .wrong_windows import CutInHalf, Masked, Preallocated

__all__ = ["MAKERS", "Maker", "random_model"]

Clock = Callable[[], float]
VOCAB = 64
CALM, FAR, SURE = (1.0, 5.0), (3.0, 15.0), (3.0, 25.0)


def random_model(attention: float = 3.0, certainty: float = 15.0, seed: int = 0) -> Decoder:
    """Make a small decoder with random weights that makes use of what lies far back.

    ``attention`` multiplies the weights of queries and keys, so that heads look at something;
    ``certainty`` those of the embedding, so that the next token is not anyone's guess.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(Config(VOCAB, 64, 2, 4, 2, 16, 128), Full())
    with torch.no_grad():
        for block in model.blocks:
            layer: Any = block.attention
            for weight, by in ((layer.q, attention), (layer.k, attention), (layer.v, 2.0),
                               (layer.out, 2.0)):  # fmt: skip
                weight.weight.mul_(by)
        model.embed.weight.mul_(certainty)
    return model.requires_grad_(False)


@dataclass(frozen=True)
class Maker:
    """How a log is made; ``wrong`` says what is wrong with the run, "" for nothing."""

    wrong: str
    policy: Policy
    tokens: int
    model: tuple[float, float] = CALM
    batch: int = 1
    prompt: int = 12
    reference: bool = True
    budget_tokens: int | None = None  # bytes of so many tokens are the budget
    joins: tuple[int, int] | None = None  # at this token so many rows decode

    def __call__(self, path: Path | str, clock: Clock = perf_counter) -> None:
        """Run it and write its log to ``path``."""
        model = random_model(*self.model)
        one = Contender(self.policy.name, model, self.policy)
        rows = self.joins[1] if self.joins else self.batch
        text = _text(self.model if self.reference else None, self.tokens, rows)
        each = 2 * model.config.kv_heads * model.config.head_dim * 4 * model.config.layers
        budget = each * self.budget_tokens * self.batch if self.budget_tokens else None
        record(
            one, text, path, self.prompt, self.reference, budget=budget, clock=clock,
            rows=self.batch, between=self._join if self.joins else None,
        )  # fmt: skip

    def _join(self, at: int, monitor: Monitor) -> None:
        """Let rows join: the ring of each layer gets copies of the row it has."""
        assert self.joins is not None
        if at == self.joins[0]:
            for cache in monitor.caches:
                cache.ring = cache.ring.select([0] * self.joins[1])
            monitor.batch = self.joins[1]


@lru_cache(maxsize=8)
def _text(model: tuple[float, float] | None, n: int, rows: int) -> torch.Tensor:
    """Give a model's own text; where nothing is compared, any text: tokens (rows, n)."""
    if model is None:
        return torch.randint(0, VOCAB, (rows, n), generator=torch.Generator().manual_seed(0))
    return own_text(full_of(random_model(*model)), n, batch=rows)


MAKERS: dict[str, Maker] = {
    # S40
    "quality drops": Maker(
        "the first tokens leave, and the model needs them", Window(16), 200, FAR
    ),
    "no speed-up": Maker("the window is larger than the text", Sinks(1024, 4), 200),
    "memory does not fall": Maker("the window is only a mask", Masked(60, 4), 200, SURE),
    "memory does not fall, 2": Maker(
        "the window is a view of a buffer for the longest text",
        Preallocated(60, 2048, 4), 200, SURE,
    ),
    "summaries too often": Maker("a summary at every token (D2)", TooOften(16, 4, 8, 8), 200),
    "output jitters": Maker("half of the window leaves at once", CutInHalf(32), 200),
    "framework mismatch": Maker(
        "the cache turns keys that the model has turned", TurnedTwice(32, 4), 200
    ),
    # S22
    "out of memory": Maker("everything is kept", Full(), 200, budget_tokens=160),
    "slow while memory is free": Maker(
        "everything is read at each step", Full(), 260, batch=64, reference=False,
        budget_tokens=4000,
    ),
    "slow first token": Maker("the prompt is long", Full(), 1240, prompt=1200, reference=False),
    "slows half way": Maker(
        "127 more rows join", Sinks(60, 4), 200, reference=False, joins=(100, 128)
    ),
    # S13, S38
    "memory creeps": Maker("summaries are listed and never merged (D4)", Listed(16, 4), 200),
    "score peaks": Maker("one key is stored thirty times too large", Spiked(24, 4), 200),
    "healthy": Maker("", Sinks(60, 4), 200, SURE),
    "healthy, 2": Maker("", Pooled(16, 4, 8, 8), 200),
}  # fmt: skip
