"""Lesson 03: which rewinds are refused."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ..numpy_ring import NumpyRing, RewindError
from .model import Case, Exercise, Mutant, answers

__all__ = ["PREDICT"]

NAMES = ("first", "second", "third", "fourth", "fifth", "sixth")
SCRIPT = (("back", 1), ("back", 2), ("append", 3), ("back", 2), ("back", 1), ("append", 1),
          ("back", 2), ("append", 1), ("back", 2))  # fmt: skip
"""What happens to a ring of window 4 and slack 2 that has seen 10 tokens."""


def _allowed() -> list[bool]:
    ring, said = NumpyRing(window=4, kv_heads=1, head_dim=1, slack=2), []
    token = np.zeros((1, 10, 1), np.float32)
    ring.append(token, token)
    for what, n in SCRIPT:
        if what == "append":
            ring.append(token[:, :n], token[:, :n])
            continue
        try:
            ring.rewind(n)
        except RewindError:
            said.append(False)
        else:
            said.append(True)
    return said


def _predict_cases(rng: Random) -> list[Case]:
    return [Case("window 4, slack 2, 10 tokens", lambda a: _one_by_one(a.allowed))]


def _one_by_one(allowed: Any) -> dict[str, Any]:
    """Name the predictions, so that a check shows the first wrong one and not the others."""
    if not isinstance(allowed, list | tuple | np.ndarray) or len(allowed) != len(NAMES):
        return {"allowed": allowed}
    return {"allowed": "a list of six"} | dict(zip(NAMES, allowed, strict=True))


PREDICT = Exercise(
    id="predict03",
    names=("allowed",),
    cases=_predict_cases,
    reference=answers(allowed=_allowed()),
    mutants=(
        Mutant(
            "slack-alone",
            "each rewind is compared with the slack and nothing else: what an earlier rewind "
            "took back is used up until new tokens come",
            answers(allowed=[True] * 6),
        ),
        Mutant(
            "never",
            "a ring that has wrapped is thought unable to take anything back: two of its tokens "
            "are older than the window needs",
            answers(allowed=[False] * 6),
        ),
        Mutant(
            "any-append",
            "any new token is thought to give all the slack back: each one gives back one slot",
            answers(allowed=[True, False, True, False, True, True]),
        ),
        Mutant(
            "one-less",
            "W - 1 positions are thought enough: the shorter text needs its last W, so that its "
            "newest token could ask again",
            answers(allowed=[True, True, True, True, False, True]),
        ),
        Mutant(
            "partly",
            "a refused rewind is thought to take back what it can: it changes nothing",
            answers(allowed=[True, False, True, False, False, False]),
        ),
        Mutant(
            "swapped",
            "True and False are swapped: True stands for a rewind that is allowed",
            answers(allowed=[not allowed for allowed in _allowed()]),
        ),
    ),
)
