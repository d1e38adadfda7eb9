"""Lesson 09: a block of keys and values in 8 bits, keys by channel and values by token."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from . import lesson_09_int8_mistakes as wrong
from .lesson_09_common import form_of, line_case
from .lesson_09_int8_mistakes import quantized_block, restored
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["INT8"]

SAME = "; keys[:, :, 0] = 1.5; values[:, 1] = -0.25"
PARTS = ("numbers", "scales", "lowest values")


def _int8_cases(rng: Random) -> list[Case]:
    """Draw (kv_heads, tokens, head_dim), with and without groups of equal values."""
    sizes = [(1, 2, 2, False), (1, 3, 2, False), (2, 4, 3, False), (1, 3, 2, True)]
    sizes.append((2, rng.randrange(3, 7), 4, True))
    return [_case(seed, *size) for seed, size in enumerate(sizes)]


def _case(seed: int, kv_heads: int, tokens: int, head_dim: int, same: bool) -> Case:
    size = f"{kv_heads}, {tokens}, {head_dim}"
    line = (
        f'rng = draw({seed}, "by4"); keys, values = drawn_block(rng, {size}, 1), '
        f"drawn_block(rng, {size}, 2){SAME if same else ''}; k, v = quantized_block(keys, values)"
    )

    def run(answer: Answer) -> dict[str, Any]:
        def look(space: dict[str, Any]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for name, one, given, along in (
                ("keys", space["k"], space["keys"], 1),
                ("values", space["v"], space["values"], 2),
            ):
                found |= _held(name, one, np.ptp(given, axis=along).ravel())
                if isinstance(one, Sequence) and len(one) == 3:
                    back = answer.restored(*one)
                    form = form_of(back)
                    found |= {f"{name} restored": form}
                    if form == form_of(given):
                        found |= {f"{name} restored, the numbers": np.round(back, 6)}
            return found

        with np.errstate(divide="raise", invalid="raise"):
            return dict(line_case(line, "quantized_block", look).run(answer))

    return Case(line, run)


def _held(name: str, one: Any, spread: Any) -> dict[str, Any]:
    """Say what a group's triple holds; the scale of a group without spread may be anything."""
    if not isinstance(one, Sequence) or len(one) != 3:
        return {f"what {name} became": form_of(one)}
    found: dict[str, Any] = {f"{name}' type": str(np.asarray(one[0]).dtype)}
    for part, array in zip(PARTS, one, strict=True):
        flat = np.round(np.asarray(array, np.float64), 6).ravel()
        if part == "scales" and len(flat) == len(spread):
            flat = np.where(spread > 0, flat, 0)
        found |= {f"{name}' {part}": flat}
    return found


INT8 = Exercise(
    id="by4-int8",
    names=("quantized_block", "restored"),
    cases=_int8_cases,
    reference=answers(quantized_block, restored),
    mutants=(
        Mutant(
            "changed-places",
            "keys and values have changed places: keys have one scale for each channel, over the "
            "block's tokens; values one for each token",
            wrong.grouped(2, 1),
        ),
        Mutant(
            "both-by-channel",
            "values are quantised by channel, too: they have one scale for each token",
            wrong.grouped(1, 1),
        ),
        Mutant(
            "both-by-token",
            "keys are quantised by token: one channel that stands out then stretches every scale",
            wrong.grouped(2, 2),
        ),
        Mutant(
            "one-for-all",
            "one scale is used for everything: the farthest value stretches it for all",
            wrong.grouped((0, 1, 2), (0, 1, 2)),
        ),
        Mutant(
            "heads-share",
            "the heads share a scale: each kv_head has its own",
            wrong.grouped((0, 1), (0, 2)),
        ),
        Mutant(
            "symmetric",
            "the range is taken as symmetric about 0: it goes from the lowest value to the highest",
            wrong.changed(limits=wrong.symmetric),
        ),
        Mutant(
            "low-is-zero",
            "the lowest value is taken for 0: take it off before you divide",
            wrong.changed(limits=wrong.from_zero),
        ),
        Mutant(
            "256-steps",
            "the range is cut into 256 steps: 256 numbers have 255 steps between them, and the "
            "highest value became 256, which a byte does not hold",
            wrong.changed(steps=256),
        ),
        Mutant(
            "256-steps-clipped",
            "the range is cut into 256 steps: 256 numbers have 255 steps between them",
            wrong.changed(steps=256, to_byte=wrong.clipped),
        ),
        Mutant(
            "7-bits",
            "the range is cut into 127 steps: without a sign a byte holds 0 to 255",
            wrong.changed(steps=127),
        ),
        Mutant(
            "cut-off",
            "fractions are cut off: rounding to the nearest number halves the largest error",
            wrong.changed(rounded=np.floor),
        ),
        Mutant(
            "divided-by-zero",
            "a scale of 0 is divided by: a group of equal values has no spread. Divide by 1 there",
            wrong.changed(divisor=lambda scale: scale),
        ),
        Mutant(
            "still-floats",
            "the numbers are not bytes yet: `.astype(np.uint8)`, or nothing is saved",
            wrong.changed(to_byte=lambda numbers: numbers),
        ),
        Mutant(
            "signed-bytes",
            "the numbers are signed bytes, which end at 127: take np.uint8",
            wrong.changed(to_byte=lambda numbers: numbers.astype(np.int64).astype(np.int8)),
        ),
        Mutant(
            "not-scaled-back",
            "numbers are restored without their scale",
            answers(restored=lambda numbers, scale, low: low + 1.0 * numbers),
        ),
        Mutant(
            "low-forgotten",
            "numbers are restored without their lowest value",
            answers(restored=lambda numbers, scale, low: scale * numbers),
        ),
        Mutant(
            "half-a-step-up",
            "half a step is added: a rounded number stands for the middle already",
            answers(restored=lambda numbers, scale, low: low + scale * (numbers + 0.5)),
        ),
    ),
)
