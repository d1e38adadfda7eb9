"""Lesson 09: what one channel that stands out does to the others, in 8 bits."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from ..graded import draw
from ..quantize import quantize, relative_error
from .compare import plain
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["CHOICES", "PREDICT", "errors", "outlier_keys"]

CHOICES = (1, 14, 250)
OUTLIER = 5
NAMES = ("order", "times", "at_once")


def outlier_keys(tokens: int = 64, head_dim: int = 32) -> npt.NDArray[np.float64]:
    """Draw keys (1, tokens, head_dim) near 0, and one channel near 60 that spreads 20 times."""
    rng = draw(0, "outlier")
    drawn = [rng.gauss(0, 1) for _ in range(tokens * head_dim)]
    keys = np.array(drawn).reshape(1, tokens, head_dim)
    keys[:, :, OUTLIER] = 60 + 20 * keys[:, :, OUTLIER]
    return keys


@cache
def errors(bits: int = 8) -> dict[str, float]:
    """Give the relative error of all other channels, by what shares a scale."""
    keys = outlier_keys()
    rest = np.delete(keys, OUTLIER, axis=2)
    return {
        group: relative_error(
            rest, np.delete(quantize(keys, bits, group).restored(), OUTLIER, axis=2)
        )
        for group in ("tensor", "token", "channel")
    }


def _predicted() -> dict[str, Any]:
    found = errors()
    ratio = found["token"] / found["channel"]
    times = min(CHOICES, key=lambda one: abs(np.log(one / ratio)))
    return {"order": sorted(found, key=lambda group: found[group]), "times": times,
            "at_once": "token"}  # fmt: skip


def _predict_cases(rng: Random) -> list[Case]:
    return [Case("64 keys of 32 channels, one of which stands out", _look)]


def _look(answer: Answer) -> dict[str, Any]:
    return {name: plain(getattr(answer, name)) for name in NAMES}


PREDICT = Exercise(
    id="predict09",
    names=NAMES,
    cases=_predict_cases,
    reference=_predicted(),
    mutants=(
        Mutant(
            "turned-round",
            "the largest error is named first: give the smallest first",
            answers(order=["tensor", "token", "channel"]),
        ),
        Mutant(
            "token-best",
            "a scale for each token is thought to shut the channel out: every token has that "
            "channel, so every scale is stretched by it",
            answers(order=["token", "channel", "tensor"]),
        ),
        Mutant(
            "token-best-channel-last",
            "a scale for each token is thought to shut the channel out: every token has that "
            "channel, so every scale is stretched by it",
            answers(order=["token", "tensor", "channel"]),
        ),
        Mutant(
            "tensor-second",
            "one scale for all is thought better than one a token: it is stretched by the farthest "
            "value of all, a token's by its own",
            answers(order=["channel", "tensor", "token"]),
        ),
        Mutant(
            "the-same",
            "token and channel are thought alike: a token's scale reaches over the outlier, about "
            "60 wide where its other values are 4 to 5 wide",
            answers(times=1),
        ),
        Mutant(
            "far-too-much",
            "the factor is taken for the number of steps: it is the ratio of two ranges, about 60 "
            "and 4 to 5",
            answers(times=250),
        ),
        Mutant(
            "channel-at-once",
            "a channel is thought complete with each token: its range is not known before the "
            "block's last token",
            answers(at_once="channel"),
        ),
        Mutant(
            "tensor-at-once",
            "the tensor is thought complete with each token: its range is not known before the "
            "last one",
            answers(at_once="tensor"),
        ),
    ),
)
