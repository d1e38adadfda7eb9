"""Hints that a learner took, as the notebook shows it: worth a look, and no proof of anything."""

from __future__ import annotations

import re

from ..grading.submission import Submission

__all__ = ["hints_taken"]

CALL = re.compile(
    r"""^[ \t]*hint\(\s*["']([\w-]{1,60})["']\s*(?:,\s*(?:level\s*=\s*)?([123]))?\s*\)""", re.M
)


def hints_taken(submission: Submission) -> dict[str, int]:
    """Give the highest level of each exercise's hints whose call stands in a cell, uncommented."""
    taken: dict[str, int] = {}
    for cell in submission.cells:
        for exercise, level in CALL.findall(cell.source[:100_000]):
            taken[exercise] = max(taken.get(exercise, 0), int(level or 1))
    return dict(sorted(taken.items()))
