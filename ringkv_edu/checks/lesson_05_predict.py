"""Lesson 05: what one row's reset changes, and what a long text costs."""

from __future__ import annotations

from random import Random
from typing import Any

import torch

from ..torch_ring import TorchRing
from .compare import plain
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["PREDICT"]

WINDOW, SEEN, RESET = 4, (10, 6, 3), 1
RING, TOKENS, KV_HEADS, HEAD_DIM = 1024, 102_400, 8, 128


def _predicted() -> dict[str, Any]:
    """Run it: the slots and positions of each row's next token after row 1 was reset."""
    ring = TorchRing(WINDOW, batch=3, kv_heads=1, head_dim=1)
    longest = torch.zeros(3, 1, max(SEEN), 1)
    ring.append(longest, longest, lengths=list(SEEN))
    ring.reset([RESET])
    before = ring.positions.clone()
    ring.append(longest[:, :, :1], longest[:, :, :1])
    slots = (ring.positions != before).nonzero()[:, 1].tolist()
    token = 2 * KV_HEADS * HEAD_DIM * torch.zeros((), dtype=torch.float16).element_size()
    return {
        "next_positions": [int(ring.positions[row, slot]) for row, slot in enumerate(slots)],
        "next_slots": slots,
        "ring_mib": RING * token / 2**20,
        "growing_mib": TOKENS * token / 2**20,
    }


def _predict_cases(rng: Random) -> list[Case]:
    return [Case("three rows, W = 4, then row 1 is reset; 8 heads of 128 for the memory", _look)]


def _look(answer: Answer) -> dict[str, Any]:
    return {name: plain(getattr(answer, name)) for name in _predicted()}


PREDICT = Exercise(
    id="predict05",
    names=("next_positions", "next_slots", "ring_mib", "growing_mib"),
    cases=_predict_cases,
    reference=_predicted(),
    mutants=(
        Mutant(
            "all-reset",
            "every row is thought to start again: a reset of row 1 moves row 1's cursor alone",
            answers(next_positions=[0, 0, 0], next_slots=[0, 0, 0]),
        ),
        Mutant(
            "none-reset",
            "row 1 is thought to go on: after its reset, its next token is position 0",
            answers(next_positions=[10, 6, 3], next_slots=[2, 2, 3]),
        ),
        Mutant(
            "slot-kept",
            "row 1's next slot is thought to stay: the slot follows the position, which is 0 again",
            answers(next_slots=[2, 2, 3]),
        ),
        Mutant(
            "one-early",
            "the newest positions are named: the next token of a row stands at `seen`",
            answers(next_positions=[9, 0, 2], next_slots=[1, 0, 2]),
        ),
        Mutant(
            "slot-is-position",
            "the slot is thought to be the position: a row has four slots",
            answers(next_slots=[10, 0, 3]),
        ),
        Mutant(
            "keys-alone",
            "keys alone are counted: a token has a key and a value",
            answers(ring_mib=2.0, growing_mib=200.0),
        ),
        Mutant(
            "four-bytes",
            "numbers of four bytes are counted: float16 has two",
            answers(ring_mib=8.0, growing_mib=800.0),
        ),
        Mutant(
            "one-head",
            "one head is counted: there are eight",
            answers(ring_mib=0.5, growing_mib=50.0),
        ),
        Mutant(
            "ring-grows",
            "the ring is thought to grow with the text: it holds its slots, whatever was written",
            answers(ring_mib=400.0),
        ),
        Mutant(
            "swapped",
            "the two memories are swapped",
            answers(ring_mib=400.0, growing_mib=4.0),
        ),
        Mutant(
            "in-bytes",
            "the answers are in bytes: a MiB is 1,048,576 of them",
            answers(ring_mib=4.0 * 2**20, growing_mib=400.0 * 2**20),
        ),
        Mutant(
            "in-kib",
            "the answers are in KiB: a MiB is 1,024 of them",
            answers(ring_mib=4.0 * 2**10, growing_mib=400.0 * 2**10),
        ),
    ),
)
