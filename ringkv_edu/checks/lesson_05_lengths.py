"""Lesson 05: which tokens of a padded chunk are real, and which positions they get."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch

from .lesson_05_common import HOST, reads_case, torch_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["LENGTHS"]

Tensor = torch.Tensor
Given = tuple[Tensor, Tensor, int, str]  # seen, lengths, n, padding


def chunk_positions(seen: Tensor, lengths: Tensor, n: int, padding: str) -> tuple[Tensor, Tensor]:
    """Give the positions (batch, n) of a chunk's tokens, -1 for padding, and the next ``seen``."""
    number, real = _numbered(lengths, n, padding)
    return torch.where(real, seen[:, None] + number, -1), seen + lengths


def _numbered(lengths: Tensor, n: int, padding: str) -> tuple[Tensor, Tensor]:
    """Number the tokens of each row from its first real one; say which are real."""
    number = torch.arange(n) - (n - lengths[:, None] if padding == "left" else 0)
    number = number.expand(len(lengths), n)
    return number, (number >= 0) & (number < lengths[:, None])


def _length_cases(rng: Random) -> list[Case]:
    runs: list[tuple[list[int], list[int], int]] = [
        ([0, 0, 0], [3, 1, 2], 3), ([10, 6, 3], [2, 4, 1], 5), ([7, 2], [0, 3], 4),
        ([5], [2], 3), ([4, 4], [4, 4], 4), ([1, 8, 2, 0], [1, 0, 3, 2], 4), ([9, 3], [1, 0], 1),
    ]  # fmt: skip
    n, batch = rng.randrange(3, 7), rng.randrange(2, 5)
    drawn = [[rng.randrange(high) for _ in range(batch)] for high in (20, n)]
    runs.append((*drawn, n))  # type: ignore[arg-type]
    cases = [_case(*run, padding) for run in runs for padding in ("left", "right")]
    call = 'chunk_positions(torch.tensor([5, 2]), torch.tensor([1, 3]), 3, "left")'
    return [*cases, reads_case(call, "chunk_positions")]


def _case(seen: list[int], lengths: list[int], n: int, padding: str) -> Case:
    call = f'chunk_positions(torch.tensor({seen}), torch.tensor({lengths}), {n}, "{padding}")'

    def look(space: dict[str, Any]) -> dict[str, Any]:
        found = space["found"]
        if not isinstance(found, tuple | list) or len(found) != 2:
            return {"result": found}
        return {"positions": found[0], "next seen": found[1]}

    return torch_case(f"found = {call}", "chunk_positions", look)


def _answer(
    positions: Callable[[Tensor, Tensor, int, str], Tensor],
    after: Callable[[Tensor, Tensor, int], Tensor] = lambda seen, lengths, n: seen + lengths,
) -> dict[str, Any]:
    def mutant(seen: Tensor, lengths: Tensor, n: int, padding: str) -> tuple[Tensor, Tensor]:
        return positions(seen, lengths, n, padding), after(seen, lengths, n)

    return answers(chunk_positions=mutant)


def _right(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    return chunk_positions(seen, lengths, n, padding)[0]


def _with(change: Callable[..., Given]) -> dict[str, Any]:
    """Make a mutant that answers for other inputs and raises seen as it should."""
    return _answer(lambda *given: _right(*change(*given)))


def _other(padding: str) -> str:
    return "right" if padding == "left" else "left"


def _from_the_padded_start(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    _, real = _numbered(lengths, n, padding)
    return torch.where(real, seen[:, None] + torch.arange(n), -1)


def _padding_numbered(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    return seen[:, None] + _numbered(lengths, n, padding)[0]


def _columns(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    return seen[:, None] + torch.arange(n)


def _left_unmasked(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    if padding == "right":
        return _right(seen, lengths, n, padding)
    return _padding_numbered(seen, lengths, n, padding)


def _zero_for_padding(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    number, real = _numbered(lengths, n, padding)
    return torch.where(real, seen[:, None] + number, 0)


def _one_more(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    return _right(seen, (lengths + 1).clamp(max=n), n, padding)


def _seen_from_positions(
    seen: Tensor, lengths: Tensor, n: int, padding: str
) -> tuple[Tensor, Tensor]:
    positions = _right(seen, lengths, n, padding)
    return positions, positions.amax(1) + 1


def _no_axis(seen: Tensor, lengths: Tensor, n: int, padding: str) -> Tensor:
    number = torch.arange(n) - (n - lengths if padding == "left" else 0)
    return torch.where((number >= 0) & (number < lengths), seen + number, -1)


def _read_by_the_host(seen: Tensor, lengths: Tensor, n: int, padding: str) -> tuple[Tensor, Tensor]:
    rows = []
    for first, length in zip(seen.tolist(), lengths.tolist(), strict=True):
        real, pads = list(range(first, first + length)), [-1] * (n - length)
        rows.append(pads + real if padding == "left" else real + pads)
    return torch.tensor(rows), seen + lengths


CURSOR = "padding advances the cursor: the next token of a row follows its last real one"
UNMASKED = (
    "padding gets positions, too: it must be -1, or it takes slots from real tokens and is seen"
)

LENGTHS = Exercise(
    id="tr3-lengths",
    names=("chunk_positions",),
    cases=_length_cases,
    reference=answers(chunk_positions),
    mutants=(
        Mutant("seen-padded", CURSOR, _answer(_right, lambda seen, lengths, n: seen + n)),
        Mutant(
            "longest",
            "every row is taken to be as long as the longest: each row has its own length",
            _with(lambda s, lengths, n, p: (s, lengths.amax().expand_as(lengths), n, p)),
        ),
        Mutant(
            "longest-seen",
            "`seen` is raised by the longest row's length in every row: each row has its own",
            _answer(_right, lambda seen, lengths, n: seen + lengths.amax()),
        ),
        Mutant(
            "padded-start",
            "positions are counted from the start of the padded row: the first real token of a "
            "row comes at its `seen`, wherever it stands",
            _answer(_from_the_padded_start),
        ),
        Mutant(
            "padded-start-and-seen",
            "padding counts like tokens: positions are counted from the start of the padded row, "
            "and the cursor goes on by n",
            _answer(_from_the_padded_start, lambda seen, lengths, n: seen + n),
        ),
        Mutant("columns", UNMASKED, _answer(_columns)),
        Mutant("columns-and-seen", UNMASKED, _answer(_columns, lambda s, lengths, n: s + n)),
        Mutant("unmasked", UNMASKED, _answer(_padding_numbered)),
        Mutant(
            "left-unmasked",
            "padding on the left gets positions below `seen`: it would overwrite older tokens of "
            "its own row. A number below 0 is padding, too",
            _answer(_left_unmasked),
        ),
        Mutant(
            "left-as-right",
            "padding is always taken to be on the right: look at `padding`",
            _with(lambda s, lengths, n, p: (s, lengths, n, "right")),
        ),
        Mutant(
            "right-as-left",
            "padding is always taken to be on the left: look at `padding`",
            _with(lambda s, lengths, n, p: (s, lengths, n, "left")),
        ),
        Mutant(
            "sides-swapped",
            "left and right are swapped: padding on the left stands before the tokens",
            _with(lambda s, lengths, n, p: (s, lengths, n, _other(p))),
        ),
        Mutant(
            "zero",
            "padding gets position 0, which is a token's: it must be -1",
            _answer(_zero_for_padding),
        ),
        Mutant(
            "one-more",
            "one token too many is taken for real: token numbers run from 0 to length - 1",
            _answer(_one_more),
        ),
        Mutant(
            "one-more-on-the-right",
            "with padding on the right, one token too many is taken for real: token numbers run "
            "from 0 to length - 1",
            _answer(lambda *g: _one_more(*g) if g[3] == "right" else _right(*g)),
        ),
        Mutant(
            "lengths-as-seen",
            "`lengths` is returned as the next `seen`: it counts the tokens before this chunk, too",
            _answer(_right, lambda seen, lengths, n: lengths.clone()),
        ),
        Mutant(
            "empty-rows",
            "the next `seen` is read off the positions: a row whose length is 0 has none there, "
            "and keeps its cursor",
            answers(chunk_positions=_seen_from_positions),
        ),
        Mutant(
            "one-less",
            "the last real token of a row is left out: token numbers run from 0 to length - 1",
            _with(lambda s, lengths, n, p: (s, (lengths - 1).clamp(min=0), n, p)),
        ),
        Mutant(
            "pads-counted",
            "`lengths` is taken to count the padding: it counts the real tokens",
            _with(lambda s, lengths, n, p: (s, n - lengths, n, p)),
        ),
        Mutant(
            "from-zero",
            "every row is numbered from 0: its first token stands at its `seen`",
            _with(lambda s, lengths, n, p: (torch.zeros_like(s), lengths, n, p)),
        ),
        Mutant(
            "first-cursor",
            "every row is numbered from row 0's cursor: each row has its own",
            _with(lambda s, lengths, n, p: (s[:1].expand_as(s), lengths, n, p)),
        ),
        Mutant(
            "one-late",
            "positions start one too late: the next token of a row stands at `seen`",
            _with(lambda s, lengths, n, p: (s + 1, lengths, n, p)),
        ),
        Mutant(
            "one-early",
            "positions start one too early: the next token of a row stands at `seen`",
            _with(lambda s, lengths, n, p: (s - 1, lengths, n, p)),
        ),
        Mutant(
            "no-new-axis",
            "seen and lengths, with one number a row, are lined up with the tokens: give them a "
            "second axis, seen[:, None]. Without it, an error is the lucky case",
            _answer(_no_axis),
        ),
        Mutant(
            "positions-alone",
            "the positions alone are returned: return them and the next `seen`",
            answers(chunk_positions=_right),
        ),
        Mutant(
            "seen-kept",
            "`seen` is returned as it was: it counts the real tokens of this chunk, too",
            _answer(_right, lambda seen, lengths, n: seen),
        ),
        Mutant("host", HOST, answers(chunk_positions=_read_by_the_host)),
    ),
)
