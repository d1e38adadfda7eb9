"""Perplexity of a text under several cache policies: one model, the same tokens, each in turn.

The text is fed in chunks, its last ``SINGLES`` tokens one by one; a learner's ring gets one token
at a time throughout. Every policy gives for a chunk what it gives for one token at a time (the
tests of the policies compare them), so the perplexity is that of streaming; the two speeds are of
the two ways.

Source: S35, S36; the cliff that a bare window has is StreamingLLM's (arXiv 2309.17453).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..model import Decoder
from ..policies.own import Own
from .load import caches_of
from .named import Row

__all__ = ["BIN", "SINGLES", "Run", "bins", "perplexity", "ppl", "run_one", "segments"]

CHUNK, SINGLES, BIN = 128, 32, 32
Say = Callable[[str, int], None]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One policy over one text. ``nll[t]`` is minus the log-probability of token t + 1, in nats."""

    row: Row
    nll: Array
    cache_bytes: int
    chunks_per_s: float  # tokens, fed in chunks
    singles_per_s: float  # tokens, fed one by one


def perplexity(
    model: Decoder, ids: Sequence[int], rows: Sequence[Row], say: Say | None = None
) -> Iterator[Run]:
    """Run the rows one after the other; ``say(label, tokens so far)`` tells how far it is."""
    for row in rows:
        yield run_one(model, ids, row, say, 1 if isinstance(row.policy, Own) else CHUNK)


def run_one(
    model: Decoder,
    ids: Sequence[int],
    row: Row,
    say: Say | None = None,
    chunk: int = CHUNK,
    caches: list[Any] | None = None,
) -> Run:
    """Feed a text to fresh caches of one policy; its first token is given, all others are scored.

    Raises ``ValueError`` for fewer than 2 tokens.
    """
    if len(ids) < 2:
        raise ValueError(f"the text has {len(ids)} tokens; perplexity needs 2 or more")
    tokens = torch.tensor(ids)[None]
    caches = caches_of(model, row.policy) if caches is None else caches
    fast = max(0, len(ids) - 1 - SINGLES)
    cuts = [min(chunk, fast - at) for at in range(0, fast, chunk)]
    cuts += [1] * (len(ids) - 1 - fast)
    losses, seconds, at = [], [0.0, 0.0], 0
    for size in cuts:
        start = perf_counter()
        logits = model.step(tokens[:, at : at + size], caches)[0]
        seconds[at >= fast] += perf_counter() - start
        losses.append(_nll(logits, tokens[0, at + 1 : at + size + 1]))
        at += size
        if say:
            say(row.label, at + 1)
    bytes_kept = sum(int(cache.nbytes) for cache in caches)
    singles = len(ids) - 1 - fast
    rates = fast / seconds[0] if fast else float("nan"), singles / seconds[1]
    return Run(row, np.concatenate(losses), bytes_kept, *rates)


def _nll(logits: torch.Tensor, wanted: torch.Tensor) -> Array:
    """Give minus the log-probability of each wanted token: (n, vocab), (n,) -> (n,) float64."""
    found = torch.nn.functional.cross_entropy(logits, wanted, reduction="none")
    return np.asarray(found.double().numpy())


def segments(tokens: int, places: int) -> list[tuple[int, int]]:
    """Cut positions 0..tokens into spans that double: up to half the places, up to all, and on."""
    edges = [0, places // 2, places]
    while edges[-1] * 2 < tokens:
        edges.append(edges[-1] * 2)
    edges = [edge for edge in edges if edge < tokens] + [tokens]
    return list(itertools.pairwise(edges))


def ppl(nll: Array, first: int = 0, last: int | None = None) -> float:
    """Give the perplexity of the tokens at positions first..last (not included).

    The first token of a text has no prediction; where nothing is left, the result is NaN.
    """
    some = nll[max(0, first - 1) : None if last is None else max(0, last - 1)]
    return float(np.exp(some.mean())) if some.size else float("nan")


def bins(nll: Array, width: int = BIN) -> list[float]:
    """Give the mean over each ``width`` tokens, the last bin left out unless it is whole.

    Bin b is of the tokens at positions b * width + 1 to (b + 1) * width.
    """
    whole = len(nll) // width
    return [float(x) for x in nll[: whole * width].reshape(whole, width).mean(axis=1)]
