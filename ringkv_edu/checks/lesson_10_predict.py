"""Lesson 10: what two libraries' caches get wrong, predicted from how they work."""

from __future__ import annotations

from random import Random
from typing import Any

from .model import Case, Exercise, Mutant, answers

__all__ = ["PREDICT", "kept_by_slice", "rows_of_columns"]

COLUMNS = (0, 1, 7, 8, 9, 10, 11, 12)


def kept_by_slice(window: int, tokens: int = 9) -> int:
    """Count what ``keys[-window + 1 :]`` keeps of some keys."""
    return len(list(range(tokens))[-window + 1 :])


def rows_of_columns(columns: tuple[int, ...] = COLUMNS, wide: int = 6) -> list[list[int]]:
    """Give what the last three rows see when each sees ``wide`` columns up to its own."""
    ends = range(len(columns) - 2, len(columns) + 1)
    return [list(columns[max(0, end - wide) : end]) for end in ends]


def _reference() -> dict[str, Any]:
    (wrong,) = [window for window in range(1, 7) if kept_by_slice(window) == 9]
    sinks = [[key for key in row if key < 2] for row in rows_of_columns()]
    return answers(wrong_window=wrong, sinks_seen=sinks)


def _cases(rng: Random) -> list[Case]:
    return [
        Case("the slice of transformers 5.24.0", lambda a: {"wrong_window": a.wrong_window}),
        Case("the columns of mlx-lm 0.32.2", lambda a: _rows(a.sinks_seen)),
    ]


def _rows(seen: Any) -> dict[str, Any]:
    if not isinstance(seen, list | tuple) or len(seen) != 3:
        return {"sinks_seen": seen}
    rows = zip((10, 11, 12), seen, strict=True)
    return {"sinks_seen": "three lists"} | {f"sinks of row {token}": x for token, x in rows}


PREDICT = Exercise(
    id="predict10",
    names=("wrong_window", "sinks_seen"),
    cases=_cases,
    reference=_reference(),
    mutants=(
        Mutant(
            "six",
            "the largest window is thought to keep too much: it keeps 5, as it should",
            answers(wrong_window=6),
        ),
        Mutant(
            "two",
            "-1 is thought to be the trap: `keys[-1:]` is the last key, one less than W = 2",
            answers(wrong_window=2),
        ),
        Mutant(
            "always-there",
            "the sinks are thought to be in every row: the band moves on past their columns",
            answers(sinks_seen=[[0, 1]] * 3),
        ),
        Mutant(
            "one-late",
            "each row is given seven columns: its own is one of the six",
            answers(sinks_seen=[[0, 1], [0, 1], [1]]),
        ),
        Mutant(
            "one-early",
            "each row is given five columns: its own is one of the six",
            answers(sinks_seen=[[1], [], []]),
        ),
        Mutant(
            "gone-at-once",
            "both sinks are thought to fall out together: the band moves by one column a row",
            answers(sinks_seen=[[0, 1], [], []]),
        ),
        Mutant(
            "never",
            "the sinks are thought to be masked for the whole chunk: row 10 still reaches them",
            answers(sinks_seen=[[], [], []]),
        ),
    ),
)
