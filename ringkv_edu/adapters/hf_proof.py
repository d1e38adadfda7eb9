"""Whether a release that nobody tested gives a ring's layers the right masks: it is tried out.

Names alone do not tell. A tiny random model decodes with a ring and is compared with one forward
that is given the window as a mask; a few hundredths of a second, once, and on other releases only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..visibility import sees
from .hf_release import RELEASE, TESTED, WANTED

__all__ = ["prove"]

WINDOW, SINKS, CHUNKS = 3, 1, [5, 1, 1, 4, 1]
SIZES: dict[str, Any] = {
    "vocab_size": 16,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
_proved: set[str] = set(TESTED)


def prove(make: Callable[..., Any]) -> None:
    """Try a release once; raise ``ImportError`` if ``make``, `ring_cache`, is not right with it."""
    if RELEASE in _proved:
        return
    _proved.add(RELEASE)  # the trial makes a cache as well
    try:
        for attention in ("sdpa", "eager"):
            if (off := _difference(make, attention)) > 1e-4:
                raise ValueError(f"with {attention} its logits are off by {off:.1e} of their scale")
    except Exception as error:
        _proved.discard(RELEASE)
        raise ImportError(f"{WANTED} ({type(error).__name__}: {error})") from error


@torch.no_grad()
def _difference(make: Callable[..., Any], attention: str) -> float:
    from transformers import LlamaConfig, LlamaForCausalLM

    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(0)
        config = LlamaConfig(**SIZES, attn_implementation=attention)
        model = LlamaForCausalLM(config).float().eval()
        n = sum(CHUNKS)
        tokens, place = torch.randint(0, 16, (1, n)), torch.arange(n)
        mask = sees(place[:, None], place, WINDOW, SINKS)[None, None]
        if attention == "eager":
            mask = torch.where(mask, 0.0, torch.finfo(torch.float32).min)
        wanted = model(tokens, attention_mask=mask, use_cache=False).logits
        cache, out = make(config, WINDOW, SINKS), []
        for chunk in torch.split(tokens, CHUNKS, dim=1):
            out.append(model(chunk, cache=cache).logits)
    return float((torch.cat(out, dim=1) - wanted).abs().max() / wanted.abs().max())
