"""Lesson 09: one more tile of scores taken into a running softmax."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from . import lesson_09_tiles_mistakes as wrong
from .lesson_09_common import form_of, line_case
from .lesson_09_tiles_mistakes import fold_tile
from .model import Case, Exercise, Mutant, answers

__all__ = ["TILES"]

NAMES = ("maximum", "sum", "output")
HIDDEN = "tiles[{}][0][{}] = -np.inf; "


def _tiles_cases(rng: Random) -> list[Case]:
    """Draw (rows, head_dim, columns of each tile, unseen (tile, rows), and what is added)."""
    few: list[tuple[int, int, list[int], str, str]] = [
        (1, 2, [2], "", ""), (1, 2, [2, 2], "", ""), (2, 2, [3, 1, 2], "", ""),
        (2, 2, [2, 2], HIDDEN.format(0, "0, 1"), ""), (2, 1, [2, 2], HIDDEN.format(0, 1), ""),
        (2, 2, [2, 1, 2], HIDDEN.format(1, 0), ""), (1, 2, [2, 2], "", "tiles[0][0][:] += 900; "),
        (1, 2, [2, 2], "", "tiles[1][0][:] += 900; "), (1, 1, [2], HIDDEN.format(0, 0), ""),
        (2, 1, [2, 2], "", "tiles[0][0][0] -= 900; "),
    ]  # fmt: skip
    few.append((3, 2, [rng.randrange(1, 4) for _ in range(3)], HIDDEN.format(0, 2), ""))
    return [_case(seed, *one) for seed, one in enumerate(few)]


def _case(seed: int, rows: int, d: int, columns: list[int], hidden: str, more: str) -> Case:
    line = (
        f'rng = draw({seed}, "by5"); state = start({rows}, {d}); tiles = [(numbers(rng, {rows}, m),'
        f" numbers(rng, m, {d})) for m in {columns}]; {hidden}{more}"
        "states = [deepcopy(state := fold_tile(state, *tile)) for tile in tiles]"
    )

    def look(space: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        shapes = [f"shape {[rows]}", f"shape {[rows]}", f"shape {[rows, d]}"]
        for number, state in enumerate(space["states"], 1):
            if not isinstance(state, tuple | list) or len(state) != 3:
                return {"result": form_of(state)}
            for name, part, shape in zip(NAMES, state, shapes, strict=True):
                label = f"{name} after tile {number}"
                form = form_of(part)
                found |= {label: part} if form == shape else {label: form}
        return found

    return line_case(line, "fold_tile", look, may_change=(0,))


TILES = Exercise(
    id="by5-tiles",
    names=("fold_tile",),
    cases=_tiles_cases,
    reference=answers(fold_tile),
    mutants=(
        Mutant(
            "nothing-rescaled",
            "sum and output stay as they were when the maximum rises: they were made with the old "
            "one, so both are multiplied by exp(old - new)",
            wrong.changed(kept=wrong.ones),
        ),
        Mutant(
            "sum-not-rescaled",
            "the output is rescaled and the sum is not: both were made with the old maximum",
            wrong.changed(sum_kept=wrong.ones),
        ),
        Mutant(
            "output-not-rescaled",
            "the sum is rescaled and the output is not: both were made with the old maximum",
            wrong.changed(out_kept=wrong.ones),
        ),
        Mutant(
            "wrong-way",
            "the old part is multiplied by exp(new - old): that makes it larger when the maximum "
            "rises",
            wrong.changed(kept=wrong.wrong_way),
        ),
        Mutant(
            "tiles-own-maximum",
            "the tile's own maximum is taken: the maximum never falls, or exp(old - new) may be "
            "infinite",
            wrong.changed(top=lambda old, scores: scores.max(axis=1)),
        ),
        Mutant(
            "first-maximum",
            "the maximum never rises: a later tile's larger score is infinite after exp",
            wrong.changed(top=wrong.first_top),
        ),
        Mutant(
            "one-for-all-rows",
            "the rows share one maximum: each row has its own",
            wrong.changed(top=wrong.shared_top),
        ),
        Mutant(
            "no-maximum",
            "nothing is taken off before exp: a score of 900 is infinite after it",
            wrong.changed(top=lambda old, scores: np.zeros(len(scores))),
        ),
        Mutant(
            "nan",
            "a row that has seen nothing becomes NaN: there -inf is taken from -inf. Take off 0 "
            "there",
            wrong.changed(base=lambda top: top),
        ),
        Mutant(
            "very-negative",
            "-inf becomes a very negative number: a row that saw nothing then weighs each of its "
            "keys with exp(0)",
            wrong.changed(seen=lambda scores: np.maximum(scores, -1e9)),
        ),
        Mutant(
            "old-forgotten",
            "the sum begins anew with each tile",
            wrong.changed(sum_kept=wrong.zeros),
        ),
        Mutant(
            "output-forgotten",
            "the output begins anew with each tile",
            wrong.changed(out_kept=wrong.zeros),
        ),
        Mutant(
            "divided-already",
            "the output is divided by the sum in each step: divide once, after the last tile",
            wrong.changed(end=lambda total, out: out / np.where(total > 0, total, 1)[:, None]),
        ),
        Mutant(
            "softmax-of-each",
            "each tile has a softmax of its own, and the outputs are added: then every tile gets "
            "the same weight",
            answers(fold_tile=wrong.softmax_of_each),
        ),
        Mutant(
            "weights-counted",
            "the keys are counted: the sum is that of their weights",
            wrong.changed(weigh=lambda weights: (weights > 0).sum(axis=1).astype(float)),
        ),
    ),
)
