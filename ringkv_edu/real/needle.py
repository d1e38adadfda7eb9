"""The needle test: a code that was said long ago, farther back than the window reaches.

The model is told a code of four digits, then a few hundred words about other things, then it is
asked for the code. It need not find words of its own: the answer is begun for it, and each digit
is scored given the right ones before it. A digit is one token.

Source: the far-recall test of S35 and S36; the idea is Kamradt's needle in a haystack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch

from ..model import Decoder
from .load import caches_of
from .named import Row
from .template import opening, turn

__all__ = ["Found", "Question", "needle", "questions"]

FILLER = (
    "The train left the station a little after nine.",
    "Rain had fallen all night and the fields were dark.",
    "A man with a green umbrella read a newspaper.",
    "Nobody in the compartment spoke for a long while.",
    "Outside, a row of poplars went by, and then a river.",
    "The conductor came, looked at the tickets, and went away.",
    "A child counted the bridges and lost count.",
    "Somebody had left a pair of gloves on the seat.",
    "Far off a church tower stood above the mist.",
    "The tea in the dining car was hot and too sweet.",
)
WORDS, CODES, SEED = 500, 5, 0
PLACES = {"at the start": 0.0, "after a third": 1 / 3}
Say = Callable[[str], None]


@dataclass(frozen=True)
class Question:
    """Prompts of one length, a row for each code, and how far back the code is said."""

    place: str
    prompts: torch.Tensor  # (codes, n)
    digits: torch.Tensor  # (codes, 4)
    back: int  # tokens from the code's first digit to where its first digit is asked


@dataclass(frozen=True)
class Found:
    """What one policy gave: of how many codes all digits were the likeliest, and how likely."""

    row: Row
    right: int
    asked: int
    digits_right: int
    logp: float  # of a whole code, mean over codes, in nats
    by_place: dict[str, int]


def needle(
    model: Decoder, asked: Sequence[Question], rows: Sequence[Row], say: Say | None = None
) -> Iterator[Found]:
    """Put every question to every policy."""
    for row in rows:
        found = []
        for question in asked:
            if say:
                say(f"{row.label}: {question.place}")
            found.append(_answered(model, question, row))
        right = {q.place: int(r.all(1).sum()) for q, (r, _) in zip(asked, found, strict=True)}
        hits, logps = (torch.cat([pair[i] for pair in found]) for i in (0, 1))
        total = float(logps.sum(1).mean())
        yield Found(row, sum(right.values()), len(hits), int(hits.sum()), total, right)


@torch.no_grad()
def _answered(model: Decoder, question: Question, row: Row) -> tuple[torch.Tensor, torch.Tensor]:
    """Say which digits (codes, 4) were the likeliest, and their log-probabilities."""
    caches = caches_of(model, row.policy, len(question.prompts))
    logits = model.step(question.prompts, caches, last=True)[:, -1]
    hits, logps = [], []
    for digit in question.digits.T:
        hits.append(logits.argmax(-1) == digit)
        logps.append(logits.log_softmax(-1).gather(1, digit[:, None])[:, 0])
        logits = model.step(digit[:, None], caches, last=True)[:, -1]
    return torch.stack(hits, 1), torch.stack(logps, 1)


def questions(
    tokenizer: Any, words: int = WORDS, codes: int = CODES, seed: int = SEED
) -> list[Question]:
    """Make the prompts: every code at every place, the same filler for all codes of a place."""
    rng = Random(seed)
    drawn = [f"{rng.randrange(10000):04}" for _ in range(codes)]
    return [_question(tokenizer, place, share, drawn, words) for place, share in PLACES.items()]


def _question(
    tokenizer: Any, place: str, share: float, codes: Sequence[str], words: int
) -> Question:
    story: list[str] = []
    while sum(len(s.split()) for s in story) < words * 3 / 4:  # about 4 tokens for 3 words
        story.append(FILLER[len(story) % len(FILLER)])
    cut = round(share * len(story))
    before, after = " ".join(story[:cut]), " ".join(story[cut:])
    rows, digits = [], []
    for code in codes:
        fact = f"Remember: the secret code is {code}."
        asked = f"{before} {fact} {after} What is the secret code?".strip()
        said = opening() + turn(asked) + "The secret code is "
        rows.append(tokenizer.encode(said, add_special_tokens=False).ids)
        digits.append(tokenizer.encode(code, add_special_tokens=False).ids)
    prompts, each = torch.tensor(rows), torch.tensor(digits)
    starts = prompts.unfold(1, 4, 1) == each[:, None]
    first = int(starts.all(2).nonzero()[0, 1])
    return Question(place, prompts, each, prompts.shape[1] - first)
