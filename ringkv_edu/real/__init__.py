"""A real language model on the course's caches: SmolLM2-135M-Instruct.

``ringkv model fetch`` gets it once; after that nothing here needs a network. Names are loaded when
they are first used, so that a missing library is said in one sentence by what needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .places import ModelMissing, fetched

_HOME = {
    "Chat": "chat",
    "caches_of": "load",
    "last_sentences": "sentences",
    "side_by_side": "beside",
    "smollm2": "load",
    "try_out": "trial",
}
__all__ = ["ModelMissing", "fetched", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"ringkv_edu.real has no name {name!r}; it offers {__all__}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
