"""How much one submission may take."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ...problem import Problem

__all__ = ["LIMITS", "Limits", "limits_here"]

LIMITS = "RINGKV_LIMITS"
MOST = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Seconds, mebibytes and counts for one notebook's kernel."""

    cell_seconds: float = 20
    grace_seconds: float = 5  # to end after an interrupt
    notebook_seconds: float = 240
    memory_mib: int = 3072  # what its processes may hold together
    address_mib: int = 8192  # what one process may ask for; torch alone asks for 1.4 GiB
    disk_mib: int = 64
    files: int = 20_000  # in each place where it may write
    processes: int = 160  # threads count, and torch starts some tens
    open_files: int = 512


def limits_here(environment: Mapping[str, str] = os.environ) -> Limits:
    """Give the limits, some of them from ``RINGKV_LIMITS``, as in ``{"cell_seconds": 60}``.

    Raises ``Problem``, a sentence for the person who set it.
    """
    text = environment.get(LIMITS, "").strip()
    if not text:
        return Limits()
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise Problem(f'{LIMITS} is {text!r}; give a JSON object, as in {{"cell_seconds": 60}}')
    return replace(Limits(), **{name: _checked(name, value) for name, value in given.items()})


def _checked(name: str, value: Any) -> Any:
    known = {field.name: field.type for field in fields(Limits)}
    if name not in known:
        raise Problem(f"{LIMITS} has {name!r}; known are {', '.join(known)}")
    whole = known[name] == "int"
    right = isinstance(value, int) if whole else isinstance(value, int | float)
    if isinstance(value, bool) or not right or not 0 < value < MOST:
        kind = "a whole number" if whole else "a number"
        raise Problem(f"{LIMITS}: {name} is {value!r}; give {kind} above 0 and below {MOST:,}")
    return value
