"""A graded cell as a function: its variables must not stand in for an answer's own."""

from __future__ import annotations

from textwrap import indent

__all__ = ["enclosed"]


def enclosed(source: str) -> str:
    """Put a cell's source into a function that is called and forgotten."""
    return f"def _graded():\n{indent(source, '    ')}\n\n\n_graded()\ndel _graded"
