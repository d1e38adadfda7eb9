"""Points for a graded cell's printed lines, counted outside of the kernel that printed them.

A line earns only where it depends on the seed and on the answer: lines that the released
notebook shows already could be copied, and lines that every known mistake gets right say nothing.
Such lines can only cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from .oracle import KnownMistake

__all__ = ["Credit", "credit", "mistake_of", "rounded", "telling_lines"]


@dataclass(frozen=True)
class Credit:
    """How much of a cell is right: lines right and asked, and the share of its points."""

    right: int
    lines: int
    share: Fraction


def credit(
    reference: str, printed: str, known: Iterable[str], mistakes: Iterable[KnownMistake]
) -> Credit:
    """Compare line by line, each line at its own place. All alike is all of the points.

    ``known`` are texts that earn nothing by themselves: the released one, and the stub's.
    """
    want, got = reference.splitlines(), printed.splitlines()
    if reference == printed:
        return Credit(len(want), len(want), Fraction(1))
    right = [i < len(got) and got[i] == line for i, line in enumerate(want)]
    old = [text.splitlines() for text in known]
    telling = telling_lines(want, old, [one.printed.splitlines() for one in mistakes])
    earned = sum(ok for ok, tells in zip(right, telling, strict=True) if tells)
    lost = sum(not ok for ok, tells in zip(right, telling, strict=True) if not tells)
    lost += max(0, len(got) - len(want))
    share = Fraction(max(0, earned - lost), max(1, sum(telling)))
    return Credit(sum(right), len(want), min(share, Fraction(len(want) - 1, len(want) or 1)))


def rounded(points: int, share: Fraction) -> float:
    """Give the points for a share, in hundredths, rounded down."""
    return floor(points * share * 100) / 100


def mistake_of(printed: str, mistakes: Iterable[KnownMistake]) -> KnownMistake | None:
    """Find the known mistake that prints exactly this."""
    return next((one for one in mistakes if one.printed == printed), None)


def telling_lines(want: list[str], known: list[list[str]], wrong: list[list[str]]) -> list[bool]:
    """Say of each line whether it can earn: it is in no known text, and mistakes miss it.

    A mistake that raises misses every later line, so where others print to the end, they decide.
    """
    whole = [lines for lines in wrong if len(lines) == len(want)] or wrong
    shown = [any(i < len(k) and k[i] == line for k in known) for i, line in enumerate(want)]
    missed = [any(i >= len(w) or w[i] != line for w in whole) for i, line in enumerate(want)]
    return [not old and bad for old, bad in zip(shown, missed, strict=True)]
