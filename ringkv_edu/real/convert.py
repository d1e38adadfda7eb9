"""GGUF to what loads fast: float32 weights in safetensors under the names of Llama's own code.

A quantised weight is a whole number times a scale, plus an offset, for blocks of 32 of them. As
float32 it is exact; bfloat16 would halve the file and round it.

llama.cpp turns neighbouring numbers of a head (``interleaved``), Llama's code numbers half a head
apart (``half``), so whoever wrote the GGUF put the rows of the query and key projections in another
order. Here they go back: left as they are, the model would talk nonsense.

Source: the GGUF format (ggml-org/llama.cpp, gguf-py); ``ringkv_edu.rope`` on pairing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CONVERTED", "convert"]

CONVERTED = ("model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja")
SIZES = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "rope.dimension_count",
    "max_position_embeddings": "context_length",
    "vocab_size": "vocab_size",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
INSIDE = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
Array = npt.NDArray[np.float32]


def convert(gguf: Path, folder: Path) -> None:
    """Write the files of ``CONVERTED`` into a folder.

    Raises ``ValueError`` for a GGUF that is no Llama with tied embeddings.
    """
    from gguf import GGUFReader
    from safetensors.numpy import save_file

    reader = GGUFReader(gguf)
    config = _config(reader)
    weights = {_named(t.name): _weights(t, config) for t in reader.tensors}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    template = str(reader.fields["tokenizer.chat_template"].contents())
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    _tokenizer(gguf).save(str(folder / "tokenizer.json"))


def _config(reader: Any) -> dict[str, Any]:
    """Give the sizes in the form of a Llama config of the transformers library."""

    def told(name: str) -> Any:
        if name not in reader.fields:
            raise ValueError(f"this GGUF does not say {name}; it is not the file that is meant")
        return reader.fields[name].contents()

    kind = told("general.architecture")
    names = {tensor.name for tensor in reader.tensors}
    if kind != "llama" or "output.weight" in names:
        raise ValueError(f"this GGUF holds {kind}; a Llama with tied embeddings is expected")
    sizes = {ours: told(f"llama.{theirs}") for ours, theirs in SIZES.items()}
    base = float(told("llama.rope.freq_base"))
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": told("tokenizer.ggml.bos_token_id"),
        "eos_token_id": told("tokenizer.ggml.eos_token_id"),
        "rope_parameters": {"rope_type": "default", "rope_theta": base},
        "dtype": "float32",
        **sizes,
    }


def _named(name: str) -> str:
    """Give the name of a weight in Llama's own code."""
    parts = name.split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{INSIDE[parts[2]]}.{parts[3]}"
    return f"{OUTSIDE[parts[0]]}.{parts[1]}"


def _weights(tensor: Any, config: dict[str, Any]) -> Array:
    """Give a weight as float32, with rows in the order of ``half`` pairing."""
    from gguf import dequantize

    weights = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
    for part, heads in (("attn_q", "num_attention_heads"), ("attn_k", "num_key_value_heads")):
        if f".{part}." in tensor.name:
            return _halved(weights, config[heads])
    return weights


def _halved(weights: Array, heads: int) -> Array:
    """Put rows 0, 2, 4 ... of each head first and 1, 3, 5 ... behind them."""
    rows, width = weights.shape
    pairs = weights.reshape(heads, rows // heads // 2, 2, width)
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows, width)


def _tokenizer(gguf: Path) -> Any:
    """Make the tokenizer from the GGUF's vocabulary and merges."""
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    read = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
    return read.backend_tokenizer
