"""What a graded cell may use: seeded inputs, and numbers that print the same everywhere.

Nothing here knows an answer, so a sealed run can leave this module readable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from random import Random

__all__ = ["draw", "fixed", "plain"]

PROBE = "RINGKV_ROUNDING_PROBE"
LARGEST_DIGITS = 6


def draw(seed: int, exercise: str) -> Random:
    """Give a random source that depends on the seed and the exercise and on nothing else."""
    return Random(f"{exercise}:{seed}")


def plain(value: object, digits: int = 3) -> str:
    """Write data the same way whatever holds it: a list, a tuple, an array; ints, floats, NumPy's.

    Numbers that are whole after rounding to ``digits`` decimals are written as whole numbers.
    """
    if value is None or isinstance(value, str):
        return repr(value)
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return plain(value.tolist(), digits)
    if isinstance(value, int | float):
        text = fixed(value, digits)
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, Iterable):
        return "[" + ", ".join(plain(item, digits) for item in value) + "]"
    return repr(value)


def fixed(x: float, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals, at most 6.

    Graded cells print every number that is not whole through this, so that the builder can ask
    what would happen if its last digits were different: the environment variable
    RINGKV_ROUNDING_PROBE holds a relative change, 0 by default, that is applied first. An int is
    exact and has no last digits to differ.
    """
    if not 0 <= digits <= LARGEST_DIGITS:
        raise ValueError(f"digits is {digits}; a reference output can hold 0 to {LARGEST_DIGITS}")
    nudge = 0.0 if isinstance(x, int) else float(os.environ.get(PROBE, "0"))
    nudged = float(x) * (1 + nudge)
    text = f"{nudged:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text
