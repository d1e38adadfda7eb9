"""A short window with retrieval: the sentence that fits a question is said again before it.

    python -m ringkv_edu.real.retrieved retrieved.json

The needle test, with one thing more: the talk is kept as text, outside the cache, and its sentence
that shares most words with the question is put before the question. The cache stays as large as it
was, so this is what a long window is to be compared with at equal memory.

Source: S41.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch

from ..policies import Full, Sinks
from .load import smollm2
from .named import Row
from .needle import CODES, FILLER, PLACES, SEED, WORDS, Question, needle
from .record import about, write
from .template import opening, turn

__all__ = ["asked", "best_passage"]

QUESTION = "What is the secret code?"


def best_passage(sentences: Sequence[str], question: str) -> str:
    """Give the sentence that shares most words with a question, the first of equals."""
    wanted = _words(question)
    return max(sentences, key=lambda sentence: len(wanted & _words(sentence)))


def asked(tokenizer: Any, again: bool) -> list[Question]:
    """Make the needle test's prompts; ``again``: the best passage stands before the question."""
    rng = Random(SEED)
    codes = [f"{rng.randrange(10000):04}" for _ in range(CODES)]
    return [_asked(tokenizer, place, share, codes, again) for place, share in PLACES.items()]


def _asked(tokenizer: Any, place: str, share: float, codes: Sequence[str], again: bool) -> Question:
    story: list[str] = []
    while sum(len(sentence.split()) for sentence in story) < WORDS * 3 / 4:
        story.append(FILLER[len(story) % len(FILLER)])
    rows, digits = [], []
    for code in codes:
        told = [*story]
        told.insert(round(share * len(story)), f"Remember: the secret code is {code}.")
        end = [f"Earlier: {best_passage(told, QUESTION)}"] if again else []
        said = opening() + turn(" ".join([*told, *end, QUESTION])) + "The secret code is "
        rows.append(tokenizer.encode(said, add_special_tokens=False).ids)
        digits.append(tokenizer.encode(code, add_special_tokens=False).ids)
    prompts, each = torch.tensor(rows), torch.tensor(digits)
    first = int((prompts.unfold(1, 4, 1) == each[:, None]).all(2).nonzero()[0, 1])
    return Question(place, prompts, each, prompts.shape[1] - first)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def main(out: Path) -> None:
    """Measure with and without the passage, and write the record."""
    model, tokenizer = smollm2()
    rows = [Row("full", "full", Full()), Row("sinks", "252+4 sinks", Sinks(252, 4))]
    found = []
    for again in (False, True):
        for one in needle(model, asked(tokenizer, again), rows):
            words = f"{one.row.label}, {'retrieved' if again else 'not retrieved'}"
            key = one.row.key + ("-retrieved" if again else "")
            bytes_ = sum(int(c.nbytes) for c in _caches(model, one.row, tokenizer, again))
            result = {"codes_right": one.right, "codes": one.asked, "logp": round(one.logp, 3)}
            found.append({"key": key, "label": words, **result, "cache_bytes": bytes_})
            print(found[-1], flush=True)
    write(out, about(f"python -m ringkv_edu.real.retrieved {out.name}") | {"rows": found})


def _caches(model: Any, row: Row, tokenizer: Any, again: bool) -> list[Any]:
    """Give the caches of one talk, after its prompt."""
    from .load import caches_of

    caches = caches_of(model, row.policy)
    model.step(asked(tokenizer, again)[0].prompts[:1], caches, last=True)
    return caches


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m ringkv_edu.real.retrieved OUT.json")
    main(Path(sys.argv[1]))
