"""The source audit: what the articles behind this course print, and what is right.

Fifty rows, each with a computation by the package's own functions and the figures that the course
states. ``rows`` gives them in order; ``audit`` computes some or all and says where anything
disagrees. ``ringkv audit`` shows it, and ``page`` writes ``course/source_audit.md``.
"""

from __future__ import annotations

from collections.abc import Iterable

from .row import ARTICLES, Fact, Finding, Row, check

__all__ = ["ARTICLES", "Fact", "Finding", "Row", "audit", "check", "rows"]


def rows() -> tuple[Row, ...]:
    """Give all rows, A1 to D10."""
    from . import article_a, article_b, article_c, article_c_turns, article_d

    parts = (article_a, article_b, article_c, article_c_turns, article_d)
    found = [row for part in parts for row in part.ROWS]
    return tuple(sorted(found, key=lambda row: (row.article, int(row.id[1:]))))


def audit(some: Iterable[Row] | None = None) -> list[Finding]:
    """Compute some rows, or all."""
    return [check(row) for row in (rows() if some is None else some)]
