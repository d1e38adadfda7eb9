"""How well contenders predict one text: perplexity, agreement with the first, attention mass."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from .contender import CHUNK, Contender, pieces, total_bytes
from .mass import Looker, Mass, watching

__all__ = ["Quality", "losses", "quality"]

Tensor = torch.Tensor
LOOK = 32  # the text's last tokens, whose attention is looked at
Say = Callable[[str], None]


@dataclass
class Quality:
    """What a contender made of a text: see ``quality``."""

    nll: list[float] = field(default_factory=list)  # surprise at each token but the first, in nats
    agreed: int = 0  # tokens at which the likeliest next token was the reference's
    divergence: float = 0.0  # from the reference's predictions, summed, in nats
    peak_bytes: int = 0
    mass: Mass | None = None

    def perplexity(self, start: int = 0) -> float:
        """Give exp of the mean surprise from token ``start`` on (token 0 is never predicted)."""
        rest = self.nll[max(0, start - 1) :]
        if not rest:
            raise ValueError(f"no token is predicted from {start} on; the text is too short")
        return math.exp(min(sum(rest) / len(rest), 700.0))

    @property
    def agreement(self) -> float:
        """Share of tokens at which the greedy choice is the reference's."""
        return self.agreed / len(self.nll)

    @property
    def mean_divergence(self) -> float:
        """Mean divergence from the reference's predictions, in nats."""
        return self.divergence / len(self.nll)


@torch.no_grad()
def quality(
    who: Sequence[Contender],
    tokens: Tensor,
    chunk: int = CHUNK,
    first: int = 4,
    say: Say = lambda text: None,
) -> dict[str, Quality]:
    """Let contenders read ``tokens`` (1, n) side by side, chunk by chunk, through their caches.

    The first of them is the reference. A chunk gives what one token at a time gives, so nothing
    depends on ``chunk``. In the last tokens it is noted how much attention goes to the ``first``
    tokens of the text, to other exact ones, and to summaries.
    """
    if tokens.ndim != 2 or tokens.shape[0] != 1 or tokens.shape[1] < 2:
        raise ValueError(f"tokens have shape {tuple(tokens.shape)}; give one text, (1, n), n >= 2")
    found = {one.name: Quality() for one in who}
    caches = {one.name: one.caches() for one in who}
    n, start = tokens.shape[1] - 1, 0
    head = max(0, n - LOOK)
    parts = [*pieces(tokens[:, :head], chunk)] if head else []
    for part in [*parts, tokens[:, head:n]]:
        say(f"token {start} of {n}")
        wanted = tokens[0, start + 1 : start + part.shape[1] + 1]
        _one_part(who, part, wanted, caches, found, first if start == head else None)
        start += part.shape[1]
    return found


def _one_part(
    who: Sequence[Contender],
    part: Tensor,
    wanted: Tensor,
    caches: dict[str, list[Any]],
    found: dict[str, Quality],
    first: int | None,
) -> None:
    reference: Tensor | None = None
    for one in who:
        note, looker = found[one.name], Looker(first or 0)
        if first is None:
            logits = one.model.step(part, caches[one.name])[0]
        else:
            with watching(looker):
                logits = one.model.step(part, caches[one.name])[0]
            note.mass = looker.mass
        logs = logits.double().log_softmax(-1)
        reference = logs if reference is None else reference
        note.nll += (-logs.gather(-1, wanted[:, None])[:, 0]).tolist()
        note.agreed += int((logs.argmax(-1) == reference.argmax(-1)).sum())
        note.divergence += float((reference.exp() * (reference - logs)).sum())
        note.peak_bytes = max(note.peak_bytes, total_bytes(caches[one.name]))


@torch.no_grad()
def losses(one: Contender, tokens: Tensor, chunk: int = CHUNK) -> Tensor:
    """Give a contender's surprise at each token but the first, in nats: (batch, n - 1) float64."""
    caches, out, start = one.caches(len(tokens)), [], 0
    for part in pieces(tokens[:, :-1], chunk):
        logs = one.model.step(part, caches).double().log_softmax(-1)
        wanted = tokens[:, start + 1 : start + part.shape[1] + 1]
        out.append(-logs.gather(-1, wanted[..., None])[..., 0])
        start += part.shape[1]
    return torch.cat(out, 1)
