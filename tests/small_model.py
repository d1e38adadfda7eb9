"""A model folder as `ringkv model fetch` leaves one, with a tiny random Llama in it."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from ringkv_edu.real.places import MODEL

CONFIG = {
    "vocab_size": 259, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 48, "rms_norm_eps": 1e-5,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100000.0},
}  # fmt: skip
ATTENTION = {"q_proj": (64, 32), "k_proj": (32, 32), "v_proj": (32, 32), "o_proj": (32, 64)}
MLP = {"gate_proj": (48, 32), "up_proj": (48, 32), "down_proj": (32, 48)}


def small_model(models_folder: Path) -> Path:
    """Write it and give its folder. A token is a byte."""
    folder = models_folder / MODEL.folder
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    make = torch.Generator().manual_seed(3)
    weights = {"model.embed_tokens.weight": torch.randn(259, 32, generator=make)}
    for layer in range(2):
        here = f"model.layers.{layer}."
        for name, shape in ATTENTION.items():
            weights[f"{here}self_attn.{name}.weight"] = torch.randn(shape, generator=make) * 0.4
        for name, shape in MLP.items():
            weights[f"{here}mlp.{name}.weight"] = torch.randn(shape, generator=make) * 0.3
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{here}{name}.weight"] = torch.ones(32)
    weights["model.norm.weight"] = torch.full((32,), 0.3)
    save_file(weights, folder / "model.safetensors")
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    letters = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "source.json").write_text("{}")
    return folder
