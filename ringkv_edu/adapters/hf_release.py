"""The transformers library as the cache for a language model needs it, or one clear sentence.

What is used of it: the classes a cache is made of, and the registry of the functions that make
masks. A release that has them under other names is refused when this module is imported.
"""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["RELEASE", "TESTED", "WANTED", "cache_utils", "masking_utils"]

TESTED = ("5.24.0",)
CACHE = (
    "update get_mask_sizes get_query_offset get_seq_length get_max_length reset reorder_cache crop "
    "batch_repeat_interleave batch_select_indices"
)
LAYER = "lazy_initialization update get_mask_sizes get_seq_length get_max_length"
MASK = (
    "batch_size q_length kv_length q_offset kv_offset mask_function attention_mask "
    "allow_is_causal_skip use_vmap device"
)

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "a cache for a language model needs torch and the transformers library: "
        'python -m pip install "ringkv-edu[torch,models]"'
    ) from error

try:
    import transformers
except ImportError as error:
    raise ImportError(
        "a cache for a language model needs the transformers library: "
        'python -m pip install "ringkv-edu[models]"'
    ) from error

RELEASE: str = transformers.__version__
WANTED = (
    f"transformers {RELEASE} has no cache interface that this adapter knows; "
    f"it was tested on {', '.join(TESTED)}: python -m pip install transformers=={TESTED[-1]}"
)

try:
    from transformers import cache_utils, masking_utils
except ImportError as error:
    raise ImportError(f"{WANTED} ({error})") from error


def _missing() -> list[str]:
    """Name what this release lacks of the interface that the adapter was written for."""
    lacks = []
    cache, layer = (getattr(cache_utils, name, None) for name in ("Cache", "CacheLayerMixin"))
    for kind, name, methods in ((cache, "Cache", CACHE), (layer, "CacheLayerMixin", LAYER)):
        lacks += [f"{name}.{method}" for method in methods.split() if not hasattr(kind, method)]
    known = set(LAYER.split())
    lacks += [f"{name}, unknown" for name in getattr(layer, "__abstractmethods__", known) - known]
    if not hasattr(cache_utils, "DynamicLayer"):
        lacks.append("DynamicLayer")
    return lacks + _missing_of_masks()


def _missing_of_masks() -> list[str]:
    masks: Any = getattr(masking_utils, "AttentionMaskInterface", None)
    lacks = [] if hasattr(masks, "register") else ["AttentionMaskInterface.register"]
    for kind in ("sdpa", "eager"):
        function = getattr(masks, "_global_mapping", {}).get(kind)
        if function is None:
            lacks.append(f"a mask function {kind!r}")
            continue
        names = _parameters(function)
        skips = {"allow_is_causal_skip"} if kind == "eager" else set()  # taken by its **kwargs
        lacks += [f"{name} of the {kind} mask" for name in set(MASK.split()) - skips - names]
    for name in ("causal_mask_function", "create_causal_mask"):
        if not hasattr(masking_utils, name):
            lacks.append(name)
        elif name[:6] == "create" and "cache" not in _parameters(masking_utils.create_causal_mask):
            lacks.append("the argument `cache` of a model")  # it was past_key_values before
    return lacks


def _parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


if missing := _missing():
    raise ImportError(f"{WANTED} (it lacks {', '.join(sorted(missing)[:4])})")
