"""Lesson 04: a base for longer texts, and why a window needs none."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .model import Case, Exercise, Mutant, answers

__all__ = ["BASE"]

WHOLE_BASE = "the new base is made a whole number: it has decimals, and they count"


def ntk_base(base: float, stretch: float, head_dim: int) -> float:
    """Give the base with which the slowest pair turns ``stretch`` times slower."""
    return float(base * stretch ** (head_dim / (head_dim - 2)))


def farthest(tokens: int, window: int) -> int:
    """Give the largest distance between a query and a key that it sees."""
    return min(tokens, window) - 1


def _power(alpha: Callable[[int], float]) -> dict[str, Any]:
    """Make a mutant of ``ntk_base`` with another exponent."""
    return answers(ntk_base=lambda base, stretch, d: base * stretch ** alpha(d))


def _base_cases(rng: Random) -> list[Case]:
    bases = [
        (10000.0, 4.0, 128),
        (10000.0, 2.0, 4),
        (10000.0, 1.0, 64),
        (rng.choice([500.0, 500000.0]), rng.randrange(2, 9) / 2 + 1, rng.choice([8, 16, 64])),
    ]
    texts = [(3, 8), (8, 8), (9, 8), (1, 8), (6, 1), (100000, 4096)]
    texts.append((rng.randrange(50, 500), rng.randrange(5, 40)))
    return [_base_case(*one) for one in bases] + [_text_case(*one) for one in texts]


def _base_case(base: float, stretch: float, d: int) -> Case:
    return Case(
        f"ntk_base({base}, {stretch}, {d})",
        lambda answer: {"result": answer.ntk_base(base, stretch, d)},
    )


def _text_case(tokens: int, window: int) -> Case:
    return Case(
        f"farthest({tokens}, {window})",
        lambda answer: {"result": answer.farthest(tokens, window)},
    )


BASE = Exercise(
    id="rope6-base",
    names=("ntk_base", "farthest"),
    cases=_base_cases,
    reference=answers(ntk_base, farthest),
    mutants=(
        Mutant(
            "alpha-half",
            "the exponent is 0.5, as the article prints it: the slowest pair then turns only "
            "about sqrt(s) times slower",
            _power(lambda d: 0.5),
        ),
        Mutant(
            "alpha-one",
            "the exponent is 1: near for a large d, but the slowest pair then turns a little less "
            "than s times slower",
            _power(lambda d: 1.0),
        ),
        Mutant(
            "upside-down",
            "the exponent is turned upside down: (d - 2) / d is the slowest pair's own exponent, "
            "and it has to be undone",
            _power(lambda d: (d - 2) / d),
        ),
        Mutant(
            "last-pair-d",
            "the exponent is d / (d - 1): the slowest pair is i = d/2 - 1, and 2i is d - 2",
            _power(lambda d: d / (d - 1)),
        ),
        Mutant(
            "whole-number",
            "the exponent is divided as whole numbers: d / (d - 2) has decimals",
            _power(lambda d: d // (d - 2)),
        ),
        Mutant(
            "parentheses",
            "the exponent lacks its parentheses: s ** d / (d - 2) is (s ** d) / (d - 2)",
            answers(ntk_base=lambda base, stretch, d: base * stretch**d / (d - 2)),
        ),
        Mutant(
            "divided",
            "the base gets smaller: a larger base turns the slow pairs slower",
            _power(lambda d: -d / (d - 2)),
        ),
        Mutant(
            "times",
            "stretch is multiplied by d / (d - 2): that is an exponent",
            answers(ntk_base=lambda base, stretch, d: base * stretch * d / (d - 2)),
        ),
        Mutant(
            "whole-power",
            "the base is raised to the exponent, too: only stretch is",
            answers(ntk_base=lambda base, stretch, d: (base * stretch) ** (d / (d - 2))),
        ),
        Mutant(
            "factor-alone",
            "the factor is given without the base that it multiplies",
            answers(ntk_base=lambda base, stretch, d: stretch ** (d / (d - 2))),
        ),
        Mutant(
            "cut",
            WHOLE_BASE,
            answers(ntk_base=lambda base, stretch, d: int(ntk_base(base, stretch, d))),
        ),
        Mutant(
            "rounded",
            WHOLE_BASE,
            answers(ntk_base=lambda base, stretch, d: round(ntk_base(base, stretch, d))),
        ),
        Mutant(
            "window-itself",
            "the full window is given as a distance: W keys, itself among them, reach W - 1 back",
            answers(farthest=lambda tokens, window: min(tokens - 1, window)),
        ),
        Mutant(
            "keys-counted",
            "keys are counted where a distance is asked for: the query's own key lies 0 back",
            answers(farthest=lambda tokens, window: min(tokens, window)),
        ),
        Mutant(
            "window-ignored",
            "the window is left out: what lies further back has been overwritten",
            answers(farthest=lambda tokens, window: tokens - 1),
        ),
        Mutant(
            "modulo",
            "the slot of the newest token is given: distances do not wrap",
            answers(farthest=lambda tokens, window: (tokens - 1) % window),
        ),
        Mutant(
            "always-full",
            "the window is thought to be full always: a short text does not reach back so far",
            answers(farthest=lambda tokens, window: window - 1),
        ),
    ),
)
