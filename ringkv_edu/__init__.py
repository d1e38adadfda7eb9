"""A course on the ring-buffer KV cache: a sliding window is a ring, and a slot is not a position.

Public names are loaded when they are first used, so that ``import ringkv_edu`` stays cheap and
never pulls in torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "NaiveKVBuffer": "pure",
    "NumpyRing": "numpy_ring",
    "NumpySummaryRing": "numpy_summaries",
    "RewindError": "rewind",
    "RingKVBuffer": "pure",
    "TorchRing": "torch_ring",
    "TorchSummaryRing": "torch_summaries",
    "attend": "pure",
    "compare": "widgets",
    "ntk_base": "rope",
    "oracle_attention": "visibility",
    "oracle_summaries": "summaries",
    "record": "trace",
    "ring_cache": "adapters.hf",
    "rotate": "rope",
    "show": "widgets",
    "slot_of": "visibility",
    "visibility_mask": "visibility",
    "visible": "visibility",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(
            f"ringkv_edu has no name {name!r}; it offers {', '.join(sorted(_HOME))}"
        )
    value = getattr(import_module(f"ringkv_edu.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
