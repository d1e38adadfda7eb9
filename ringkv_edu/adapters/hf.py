"""A transformers cache built on the ring: what `forward` and `generate` of a model take.

::

    import torch
    from transformers import MistralConfig, MistralForCausalLM
    from ringkv_edu.adapters import ring_cache

    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
    model = MistralForCausalLM(MistralConfig(sliding_window=32, **sizes)).eval()
    cache = ring_cache(model)
    model.generate(torch.arange(40)[None], cache=cache, max_new_tokens=60, do_sample=False)

Each sliding layer has a ring of its own (a `TorchRing`); a layer of full attention keeps
everything, as the library does. The cache is for any decoder of the library that takes its masks
from it, with the attention ``sdpa`` or ``eager``: Mistral, Llama, Qwen, Gemma and others.

**What is always right.** HF makes one mask before the layers run. Its columns are the tokens in
their order; a ring's slots are not. They agree for one token over a full ring, where every slot is
visible. They do not with padding on the left, with sinks, while the ring fills, or for a chunk
after the ring has wrapped. And Llama's mask knows of no window at all. So here each layer makes
the mask for the keys that it hands over, from their positions (`hf_masks` says how): a prompt of
any length is windowed, whatever the model is, and padding takes no slot. The first S *real* tokens
of a row are its sinks; a row of a padded batch gives what it gives alone.

Texts packed into one row, told apart by ``position_ids`` that start again, see each other, as with
the library's own caches: give each a row.

**The decode step.** One token is written first. Its layer then hands over the slots as they lie:
views, nothing is copied. (Attention weights that a model gives back are in that order, too: column
s is slot s of ``cache.rings[layer]``, whose positions say which token that is.) The mask is left
out once every slot is known to be full, except where the library is slower without one; on an
accelerator only where no ``attention_mask`` is given, since looking into it would stall the device.

**One text.** A cache holds the text of one batch. A second call of `generate` goes on with it; for
another text call ``cache.reset()`` first. The library, which drops a mask that hides nothing, does
not tell a cache that a longer second prompt is a text of its own.

**Any other ring.** ``make=`` takes a class of the same surface, a learner's own included; what it
needs is written in `any_ring`. With ``make=NumpyRing`` a real model decodes from NumPy arrays.

**Sources.** The rolling buffer of Mistral 7B (arXiv 2310.06825), sinks from StreamingLLM (arXiv
2309.17453); S8, S11. Tested on the releases of transformers in ``TESTED``; another one is refused
in a sentence, when it lacks something or when a tiny model shows that it is not right with it. The
argument of `forward` and `generate` is named ``cache``; ``past_key_values`` works too, and warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..inputs import count
from . import hf_release  # first: it says what is missing
from .hf_cache import RingCache
from .hf_layers import FullLayer, RingLayer
from .hf_proof import prove
from .surface import check_maker

__all__ = ["TESTED", "FullLayer", "RingCache", "RingLayer", "ring_cache"]

TESTED = hf_release.TESTED
SLIDING, FULL = "sliding_attention", "full_attention"


def ring_cache(
    model: Any,
    window: int | None = None,
    sinks: int = 0,
    layers: Sequence[str] | None = None,
    make: Any = None,
    slack: int = 0,
) -> RingCache:
    """Make a cache of rings for a model of the transformers library, or for its config.

    ``window``: positions that a query sees, itself included and sinks not; by default the config's
    ``sliding_window``. ``sinks``: first tokens of each row that never leave. ``layers``: for each
    layer "sliding_attention" (a ring) or "full_attention" (keeps everything); by default the
    config's ``layer_types``, and rings throughout where it names no sliding layer. ``make``: a
    class of rings to use in place of `TorchRing`, see `any_ring`. ``slack``: how many tokens can
    be taken back by ``crop`` once the ring is full, as assisted decoding does.

    Raises ``ValueError`` or ``TypeError`` for a model whose attention a ring cannot serve.
    """
    prove(ring_cache)
    config = _config_of(model)
    kinds = _kinds(config, layers)
    sizes = {
        "window": _window(config, window) if SLIDING in kinds else 1,
        "sinks": count("sinks", sinks, 0),
        "slack": count("slack", slack, 0),
    }
    if make is not None:
        check_maker(make, sinks, slack)
    return RingCache(
        [RingLayer(make=make, **sizes) if kind == SLIDING else FullLayer() for kind in kinds]
    )


def _config_of(model: Any) -> Any:
    config = getattr(model, "config", model)
    if not callable(getattr(config, "get_text_config", None)):
        raise TypeError(f"give a model of the transformers library or its config, not {model!r}")
    if getattr(config, "is_encoder_decoder", False):
        raise ValueError("this model has an encoder; a ring cache is for a decoder alone")
    if len(set(getattr(model, "hf_device_map", {}).values())) > 1:
        raise ValueError("this model lies on several devices; a ring cache is for one")
    text = config.get_text_config(decoder=True)
    attention = getattr(text, "_attn_implementation", None)
    if model is not config and attention not in ("sdpa", "eager"):
        raise ValueError(
            f"this model computes attention by {attention!r}; load it with "
            f'attn_implementation="sdpa" or "eager"'
        )
    shared = getattr(text, "kv_sharing_modes", None) or getattr(text, "num_kv_shared_layers", 0)
    if shared and any([shared] if isinstance(shared, int) else shared):
        raise ValueError("layers of this model use each other's keys; a ring cannot serve them")
    return text


def _kinds(config: Any, layers: Sequence[str] | None) -> list[str]:
    n = config.num_hidden_layers
    named = getattr(config, "layer_types", None) if layers is None else layers
    kinds = [SLIDING] * n if named is None else list(named)
    if layers is None and SLIDING not in kinds and set(kinds) == {FULL}:
        kinds = [SLIDING] * n
    if len(kinds) != n or not set(kinds) <= {SLIDING, FULL}:
        raise ValueError(
            f"layers are {kinds}; give {n}, each {SLIDING!r} (a ring) or {FULL!r} (keeps all)"
        )
    return kinds


def _window(config: Any, window: int | None) -> int:
    if window is None:
        window = getattr(config, "sliding_window", None)
        if window is None:
            raise ValueError("this model's config names no sliding_window; give window=")
    return count("window", window, 1)
