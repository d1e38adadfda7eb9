"""Doors between the course's rings and other libraries; each is opened when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {"RingCache": "hf", "ring_cache": "hf"}
__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"ringkv_edu.adapters has no name {name!r}; it offers {__all__}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
