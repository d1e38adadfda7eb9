"""Lesson 05: sequences packed into one call must not see each other."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch

from .lesson_05_common import HOST, NUMBERS, mask_rows, reads_case, torch_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["LEAK"]

Tensor = torch.Tensor


def packed_mask(sequence: Tensor, positions: Tensor, window: int) -> Tensor:
    """Give (n, n) bool: which packed tokens each packed token sees."""
    return _same(sequence) & _near(positions, window)


def _same(sequence: Tensor) -> Tensor:
    return (sequence[:, None] == sequence) & (sequence >= 0)


def _near(positions: Tensor, window: int) -> Tensor:
    distance = positions[:, None] - positions
    return (distance >= 0) & (distance < window)


def _leak_cases(rng: Random) -> list[Case]:
    runs: list[tuple[list[int], list[int], int]] = [
        ([0, 0, 0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 0, 1, 2], 3),
        ([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], 2),
        ([1, 1, 1, 0, 0], [7, 8, 9, 0, 1], 4),
        ([3, 3, 3, -1, 7, 7, -1, -1], [0, 1, 2, 0, 5, 6, 0, 0], 2),
        ([0, 0, 0], [4, 5, 6], 1), ([2, 5, 5], [2, 1, 2], 3),
        ([4, 4, 2, 2, 4], [1, 2, 0, 1, 3], 9),
    ]  # fmt: skip
    sizes = [rng.randrange(2, 5) for _ in range(2)]
    ids = rng.sample(range(6), 2)
    sequence = [each for each, size in zip(ids, sizes, strict=True) for _ in range(size)]
    rng.shuffle(sequence)
    first = {each: rng.randrange(9) for each in ids}
    positions = [first[each] + sequence[:i].count(each) for i, each in enumerate(sequence)]
    cases = [_leak_case(*run) for run in [*runs, (sequence, positions, rng.randrange(2, 4))]]
    call = "packed_mask(torch.tensor([0, 0, 1]), torch.tensor([3, 4, 0]), 2)"
    return [*cases, reads_case(call, "packed_mask")]


def _leak_case(sequence: list[int], positions: list[int], window: int) -> Case:
    call = f"packed_mask(torch.tensor({sequence}), torch.tensor({positions}), {window})"
    shape = [len(sequence)] * 2
    return torch_case(
        f"mask = {call}", "packed_mask", lambda space: mask_rows(space["mask"], shape, "token")
    )


def _mask(test: Callable[[Tensor, Tensor, int], Tensor]) -> dict[str, Any]:
    return answers(packed_mask=test)


def _index(positions: Tensor) -> Tensor:
    return torch.arange(len(positions))


def _none_negative(sequence: Tensor) -> Tensor:
    return (sequence[:, None] >= 0) & (sequence >= 0)


def _read_by_the_host(sequence: Tensor, positions: Tensor, window: int) -> Tensor:
    where = list(zip(sequence.tolist(), positions.tolist(), strict=True))
    rows = [[a == b >= 0 and 0 <= i - j < window for b, j in where] for a, i in where]
    return torch.tensor(rows)


def _asked(sequence: Tensor, positions: Tensor, window: int) -> Tensor:
    distance = positions[:, None] - positions
    near: Tensor = distance >= 0 and distance < window
    return _same(sequence) & near


LEAK = Exercise(
    id="tr5-leak",
    names=("packed_mask",),
    cases=_leak_cases,
    reference=answers(packed_mask),
    mutants=(
        Mutant(
            "leak",
            "the sequences are not told apart: tokens of one see tokens of another whose positions "
            "are near",
            _mask(lambda s, p, w: _near(p, w) & _none_negative(s)),
        ),
        Mutant(
            "leak-padding-too",
            "the sequences are not told apart at all: tokens see those of another, and padding",
            _mask(lambda s, p, w: _near(p, w)),
        ),
        Mutant(
            "packed-index",
            "the place in the pack is taken for the position, and the sequences are not told "
            "apart: the first tokens of a sequence see the last ones of the one before",
            _mask(lambda s, p, w: _near(_index(p), w) & _none_negative(s)),
        ),
        Mutant(
            "packed-index-padding-too",
            "the place in the pack is taken for the position, and `sequence` is not asked: tokens "
            "see whatever was packed before them",
            _mask(lambda s, p, w: _near(_index(p), w)),
        ),
        Mutant(
            "window-over-the-pack",
            "the window is counted over the pack: other sequences may stand between two tokens, so "
            "count distances in `positions`",
            _mask(lambda s, p, w: _same(s) & _near(_index(p), w)),
        ),
        Mutant(
            "whole-sequence",
            "a token sees all of its sequence, its future and what has left the window, too: the "
            "sequence test is needed beside the window, not in its place",
            _mask(lambda s, p, w: _same(s)),
        ),
        Mutant(
            "no-window",
            "there is no lower bound: a token sees what has left its window",
            _mask(lambda s, p, w: _same(s) & _near(p, 99)),
        ),
        Mutant(
            "future",
            "nothing forbids the future: a token sees those of its sequence that come after it",
            _mask(lambda s, p, w: _same(s) & (p[:, None] - p < w)),
        ),
        Mutant(
            "both-sides",
            "the window reaches as far into the future as into the past: the distance is not below "
            "0",
            _mask(lambda s, p, w: _same(s) & ((p[:, None] - p).abs() < w)),
        ),
        Mutant(
            "earlier-sequences",
            "a token sees the sequences with lower numbers: the number is a name, and only equal "
            "ones belong together",
            _mask(lambda s, p, w: (s[:, None] >= s) & _none_negative(s) & _near(p, w)),
        ),
        Mutant(
            "earlier-sequences-padding-too",
            "a token sees the sequences with lower numbers, and padding, which is -1: the number "
            "is a name, and only equal ones belong together",
            _mask(lambda s, p, w: (s[:, None] >= s) & _near(p, w)),
        ),
        Mutant(
            "other-sequence",
            "a token sees the other sequences and not its own: == and != are swapped",
            _mask(lambda s, p, w: (s[:, None] != s) & _none_negative(s) & _near(p, w)),
        ),
        Mutant(
            "padding-seen",
            "padding sees padding: its number is -1 everywhere, so it passes for one sequence",
            _mask(lambda s, p, w: (s[:, None] == s) & _near(p, w)),
        ),
        Mutant(
            "zero-is-padding",
            "sequence 0 is taken for padding: padding is -1",
            _mask(lambda s, p, w: packed_mask(s, p, w) & (s > 0)),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide: W counts the token itself",
            _mask(lambda s, p, w: packed_mask(s, p, w + 1)),
        ),
        Mutant(
            "too-narrow",
            "the window is one too narrow: a token sees W positions, itself among them",
            _mask(lambda s, p, w: packed_mask(s, p, w - 1)),
        ),
        Mutant(
            "not-itself",
            "a token does not see itself: it is the newest of its own window",
            _mask(lambda s, p, w: packed_mask(s, p, w) & (p[:, None] != p)),
        ),
        Mutant(
            "transposed",
            "rows and columns are swapped: a row says what its token sees",
            _mask(lambda s, p, w: packed_mask(s, p, w).T),
        ),
        Mutant(
            "inverted",
            "True and False are swapped: True means that the token is seen",
            _mask(lambda s, p, w: ~packed_mask(s, p, w)),
        ),
        Mutant(
            "to-be-added",
            "the mask is made of 0 and -inf, to be added to scores: here it is True where seen",
            _mask(lambda s, p, w: torch.where(packed_mask(s, p, w), 0.0, -torch.inf)),
        ),
        Mutant("numbers", NUMBERS, _mask(lambda s, p, w: packed_mask(s, p, w).double())),
        Mutant(
            "or",
            "the tests are joined by |, or: a token must pass all of them, &",
            _mask(lambda s, p, w: _same(s) | _near(p, w)),
        ),
        Mutant(
            "and",
            "`and`, a chain like 0 <= d < w, or & without parentheses is used on tensors: it asks "
            "one question of a whole tensor. Join comparisons with &, each in parentheses",
            _mask(_asked),
        ),
        Mutant("host", HOST, _mask(_read_by_the_host)),
    ),
)
