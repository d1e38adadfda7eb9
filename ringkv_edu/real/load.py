"""SmolLM2's weights in the decoder that the course reads, with any cache policy.

A model of the same shape that the transformers library saved (Llama, tied embeddings) loads, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..model import Config, Decoder
from ..policies import Full, Policy
from .fetch import need
from .places import found

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["caches_of", "decoder_from", "smollm2"]

NAMES = {
    "model.embed_tokens.": "embed.",
    "model.norm.": "norm.",
    "model.layers.": "blocks.",
    "input_layernorm": "norm1",
    "post_attention_layernorm": "norm2",
    "self_attn.q_proj": "attention.q",
    "self_attn.k_proj": "attention.k",
    "self_attn.v_proj": "attention.v",
    "self_attn.o_proj": "attention.out",
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
}


def smollm2(
    policies: Policy | Sequence[Policy] | None = None, folder: Path | None = None
) -> tuple[Decoder, Tokenizer]:
    """Load SmolLM2-135M-Instruct: the decoder, float32 on the CPU, and its tokenizer.

    ``policies``: one for all layers or one for each, everything kept by default.
    Raises ``ModelMissing`` until `ringkv model fetch` has been run.
    """
    need(("safetensors", "tokenizers"))
    from tokenizers import Tokenizer

    folder = found() if folder is None else folder
    model = decoder_from(folder, Full() if policies is None else policies)
    return model, Tokenizer.from_file(str(folder / "tokenizer.json"))


def decoder_from(folder: Path, policies: Policy | Sequence[Policy]) -> Decoder:
    """Make a decoder of the weights and sizes in a folder: ``config.json``, ``model.safetensors``.

    The weights are not copied: they lie in memory as in the file, and are not to be trained.
    Raises ``ValueError`` when weights are missing, such as those that a policy would have learned.
    """
    from safetensors.torch import load_file

    config = _config(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    with torch.device("meta"):  # so that nothing is drawn at random first
        model = Decoder(config, policies)
    weights = {_renamed(n): x for n, x in load_file(folder / "model.safetensors").items()}
    weights.pop("lm_head.weight", None)  # the embedding's own
    missing, unknown = model.load_state_dict(weights, strict=False, assign=True)
    if missing or unknown:
        raise ValueError(
            f"{folder} lacks {missing[:3]} and has {unknown[:3]} too many; give a Llama with tied "
            f"embeddings, and policies that learn nothing"
        )
    return model.eval().requires_grad_(False)


def caches_of(model: Decoder, policies: Policy | Sequence[Policy], batch: int = 1) -> list[Any]:
    """Make an empty cache for each layer by other policies than those that the model has.

    So one copy of the weights serves to compare policies: give the caches to ``model.step``.
    """
    layers: list[Any] = [block.attention for block in model.blocks]
    each = [policies] * len(layers) if isinstance(policies, Policy) else list(policies)
    if len(each) != len(layers):
        raise ValueError(
            f"{len(each)} policies for {len(layers)} layers; give one each, or one for all"
        )
    pairs = zip(each, layers, strict=True)
    made = [p.cache(a.shape, batch, a.k.weight, None, a.sink) for p, a in pairs]
    for layer, cache in enumerate(made):
        if getattr(cache, "reads_tokens", False):  # as in Decoder.caches
            cache.belongs_to(model, layer)
    return made


def _config(told: dict[str, Any]) -> Config:
    rope = told.get("rope_parameters") or {"rope_theta": told.get("rope_theta", 10000.0)}
    heads = told["num_attention_heads"]
    return Config(
        vocab=told["vocab_size"],
        dim=told["hidden_size"],
        layers=told["num_hidden_layers"],
        heads=heads,
        kv_heads=told["num_key_value_heads"],
        head_dim=told.get("head_dim") or told["hidden_size"] // heads,
        hidden=told["intermediate_size"],
        base=float(rope["rope_theta"]),
        eps=float(told["rms_norm_eps"]),
    )


def _renamed(name: str) -> str:
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name
