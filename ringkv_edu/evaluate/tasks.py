"""What a model is asked: facts that lie far back, and texts.

A task is tokens, and at some of them an answer that the logits must put first. A recall task and a
needle in filler are both of this kind.

Source: S36; needles as in model evaluations of long contexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from ..policies import Full
from .contender import CHUNK, Contender, pieces, total_bytes
from .mass import Looker, Mass, watching

__all__ = ["Asked", "Score", "needle", "own_text"]

Tensor = torch.Tensor


class Score(NamedTuple):
    """Answers that came first among all tokens, answers asked, and their mean log probability."""

    right: int
    asked: int
    log_probability: float
    peak_bytes: int  # of all rows
    mass: Mass | None  # where the attention of the queries from the first question on goes

    @property
    def accuracy(self) -> float:
        """Share of right answers, 0 to 1."""
        return self.right / self.asked


@dataclass(frozen=True)
class Asked:
    """``tokens`` and ``answers`` (rows, n) int64; -1 where nothing is asked.

    ``answers[r, t]`` is what must follow token t of row r. ``chance``: what guessing reaches.
    """

    name: str
    tokens: Tensor
    answers: Tensor
    chance: float

    def __post_init__(self) -> None:
        for what, x in (("tokens", self.tokens), ("answers", self.answers)):
            if x.ndim != 2 or x.dtype != torch.int64:
                raise ValueError(
                    f"{what} of {self.name} are {x.dtype} {tuple(x.shape)}; give int64 (rows, n)"
                )
        if self.tokens.shape != self.answers.shape:
            raise ValueError(
                f"{self.name} has tokens {tuple(self.tokens.shape)} and answers "
                f"{tuple(self.answers.shape)}; give as many of each"
            )
        if not (self.answers >= 0).any():
            raise ValueError(f"{self.name} asks nothing: every answer is negative")

    @torch.no_grad()
    def score(self, contender: Contender, chunk: int = CHUNK, first: int = 4) -> Score:
        """Let a contender read the tokens through its caches, and count its answers.

        ``first`` says how many of the first tokens count as sinks where attention is added up.
        """
        model, caches, looker = contender.model, contender.caches(len(self.tokens)), Looker(first)
        begin = int((self.answers >= 0).any(0).nonzero()[0])  # the first question
        for some in pieces(self.tokens[:, :begin], chunk) if begin else ():
            model.step(some, caches, last=True)
        peak, right, sums = total_bytes(caches), 0, 0.0
        both = (pieces(x[:, begin:], chunk) for x in (self.tokens, self.answers))
        for some, answers in zip(*both, strict=True):
            with watching(looker):
                logits, asked = model.step(some, caches), answers >= 0
            chosen, wanted = logits[asked], answers[asked]
            right += int((chosen.argmax(-1) == wanted).sum())
            logs = chosen.double().log_softmax(-1)
            sums += float(logs.gather(-1, wanted[:, None]).sum())
            peak = max(peak, total_bytes(caches))
        n = int((self.answers >= 0).sum())
        return Score(right, n, sums / n, peak, looker.mass)


def needle(
    filler: list[int], fact: list[int], question: list[int], answer: list[int], depth: float
) -> Asked:
    """Hide a fact in filler and ask for it at the end; token ids all.

    ``depth`` from 0 (the fact comes first) to 1 (just before the question). The answer is read
    along, so each of its tokens is asked for with the right ones before it.
    """
    if not 0 <= depth <= 1:
        raise ValueError(f"depth is {depth}; give 0 (the start) to 1 (just before the question)")
    if not answer or not question:
        raise ValueError("a needle needs a question and an answer of one token or more")
    at = round(depth * len(filler))
    before = [*filler[:at], *fact, *filler[at:], *question]
    tokens = torch.tensor([[*before, *answer[:-1]]])
    answers = torch.full_like(tokens, -1)
    answers[0, len(before) - 1 :] = torch.tensor(answer)
    return Asked("needle", tokens, answers, chance=0.0)


@torch.no_grad()
def own_text(contender: Contender, n: int, seed: int = 0, batch: int = 1) -> Tensor:
    """Let a model write the text it will be asked about: tokens (batch, n), drawn with a seed.

    Of such a text the model itself, with everything kept, is the best judge there is: any other
    policy's mean surprise is larger by how far its predictions are off (the divergence of Kullback
    and Leibler). So a comparison means something even where nothing has been trained.
    """
    writer = Contender(contender.name, contender.model, Full())
    made = torch.Generator().manual_seed(seed)
    vocab, caches = contender.model.config.vocab, writer.caches(batch)
    out = [torch.randint(0, vocab, (batch, 1), generator=made)]
    for _ in range(n - 1):
        chances = writer.model.step(out[-1], caches, last=True)[:, 0].softmax(-1)
        out.append(torch.multinomial(chances, 1, generator=made))
    return torch.cat(out, 1)
