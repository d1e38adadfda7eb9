"""Results that were measured once and kept, each with its command, versions, machine and date.

What a lesson shows of them says "recorded". The files lie in the package, so that they are found
where it is installed.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["recorded", "row"]


@cache
def recorded(name: str) -> dict[str, Any]:
    """Give a record by name, such as ``"cliff"``; raises ``KeyError`` with the names there are."""
    folder = resources.files(__name__)
    path = folder.joinpath(f"{name}.json")
    if not path.is_file():
        known = sorted(p.name[:-5] for p in folder.iterdir() if p.name.endswith(".json"))
        raise KeyError(f"nothing is recorded as {name!r}; there are {', '.join(known)}")
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def row(name: str, key: str) -> dict[str, Any]:
    """Give one row of a record by its key, such as ``row("cliff", "full")``."""
    rows: dict[str, dict[str, Any]] = {one["key"]: one for one in recorded(name)["rows"]}
    return rows[key]
