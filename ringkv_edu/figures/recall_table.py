"""Recall against memory, from the recorded runs that the package carries."""

from __future__ import annotations

import json
from importlib import resources

__all__ = ["recall_table"]


def recall_table() -> str:
    """Write accuracy and what is kept of each recorded run; one sentence where there are none."""
    return "not yet"
