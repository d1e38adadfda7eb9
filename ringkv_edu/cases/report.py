"""Writes what `ringkv cases` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from .run import FAILS, HOLDS, NOT_ASKED, Result

__all__ = ["lines"]


def lines(name: str, results: Iterable[Result]) -> Iterator[str]:
    """Give one line for each case as it is asked, a second one for what was seen, and a sum."""
    counts: Counter[str] = Counter()
    yield f"{name}: does it have these known bugs?"
    for result in results:
        case = result.case
        counts[result.verdict] += 1
        yield f"{result.verdict:<9}  {case.id:<4} {case.says}"
        if result.verdict == FAILS:
            yield f"{'':<15} {result.detail}"
            yield f"{'':<15} as in {case.source}"
        elif result.verdict == NOT_ASKED:
            yield f"{'':<15} {result.detail}"
    yield f"{counts[HOLDS]} hold, {counts[FAILS]} fail, {counts[NOT_ASKED]} not asked"
