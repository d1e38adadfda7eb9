"""Shapes of well-known models and cards, each with the place where its figures are printed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .budget import GB, GIB, Card, Model
from .problem import Problem

__all__ = ["CARDS", "MODELS", "card_named", "from_config", "model_named"]


def _same(layers: int, window: int | None = None) -> tuple[int | None, ...]:
    return (window,) * layers


def _mixed(layers: int, window: int, every: int) -> tuple[int | None, ...]:
    """Every n-th layer is global, the others slide."""
    return tuple(None if (n + 1) % every == 0 else window for n in range(layers))


MODELS = {
    one.name: one
    for one in (
        Model("llama-2-7b", 32, 32, 128, _same(32), 6_738_415_616,
              "Llama 2, arXiv 2307.09288; config.json of meta-llama/Llama-2-7b-hf"),
        Model("llama-2-13b", 40, 40, 128, _same(40), 13_015_864_320,
              "Llama 2, arXiv 2307.09288; config.json of meta-llama/Llama-2-13b-hf"),
        Model("article-13b", 40, 40, 128, _same(32), 13_000_000_000,
              "as the second article prints it, with 32 layers (source_audit.md, B6)"),
        Model("llama-3-8b", 32, 8, 128, _same(32), 8_030_261_248,
              "The Llama 3 herd of models, arXiv 2407.21783, table 3"),
        Model("mistral-7b", 32, 8, 128, _same(32, 4096), 7_241_732_096,
              "Mistral 7B, arXiv 2310.06825, table 1"),
        Model("gemma-3-4b", 8, 4, 256, _mixed(34, 1024, 6), 3_884_000_000,
              "Gemma 3, arXiv 2503.19786, table 1, section 2: five sliding layers to a global one"),
        Model("gpt-oss-20b", 64, 8, 64, _mixed(24, 128, 2), 20_914_757_184,
              "gpt-oss, arXiv 2508.10925, section 2: layers alternate"),
        Model("smollm2-135m", 9, 3, 64, _same(30), 134_515_008,
              "config.json of HuggingFaceTB/SmolLM2-135M-Instruct"),
    )
}  # fmt: skip

CARDS = {
    one.name: one
    for one in (
        Card("a100-40gb", 40 * GB, 1555 * GB, "NVIDIA A100 data sheet: 40 GB HBM2, 1,555 GB/s"),
        Card("a100-80gb", 80 * GB, 2039 * GB, "NVIDIA A100 data sheet: 80 GB HBM2e, 2,039 GB/s"),
        Card("h100-80gb", 80 * GB, 3350 * GB, "NVIDIA H100 SXM data sheet: 80 GB, 3.35 TB/s"),
        Card("h200-141gb", 141 * GB, 4800 * GB, "NVIDIA H200 data sheet: 141 GB, 4.8 TB/s"),
        Card("rtx-4090", 24 * GIB, 1008 * GB, "NVIDIA Ada whitepaper: 24 GB GDDR6X, 1,008 GB/s"),
        Card("article-80gb", 80 * GB, 1000 * GB, "80 GB and 1 TB/s, as the articles reckon"),
    )
}


def model_named(name: str) -> Model:
    """Give a preset, or read a Hugging Face ``config.json``: ``name`` is its file or folder."""
    if name in MODELS:
        return MODELS[name]
    path = Path(name)
    path = path / "config.json" if path.is_dir() else path
    if path.is_file():
        return from_config(path)
    raise Problem(f"no model is called {name!r}; give a config.json, or {', '.join(MODELS)}")


def card_named(name: str) -> Card:
    """Give a preset, or a card as ``24GB:1008GB/s``: memory and bandwidth."""
    if name in CARDS:
        return CARDS[name]
    found = re.fullmatch(r"([\d.]+)(GB|GiB):([\d.]+)(GB|TB)/s", name)
    if not found:
        raise Problem(f"no card is called {name!r}; give {', '.join(CARDS)}, or 24GB:1008GB/s")
    memory = float(found[1]) * (GB if found[2] == "GB" else GIB)
    return Card(name, memory, float(found[3]) * (GB if found[4] == "GB" else 1000 * GB))


def from_config(path: Path) -> Model:
    """Read a Hugging Face ``config.json``; the weights are counted from its shape."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem(f"{path} cannot be read as JSON: {error}") from None
    config = config.get("text_config", config) if isinstance(config, dict) else {}
    needed = ("num_hidden_layers", "num_attention_heads", "hidden_size", "vocab_size")
    missing = [name for name in needed if not isinstance(config.get(name), int)]
    if missing:
        raise Problem(f"{path} lacks {', '.join(missing)}: is it the config.json of a decoder?")
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads") or heads
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    weights = _weights(config, heads, kv_heads, head_dim)
    name = path.parent.name or path.name
    return Model(name, heads, kv_heads, head_dim, _windows(config), weights, str(path))


def _windows(config: Mapping[str, Any]) -> tuple[int | None, ...]:
    """Say each layer's window, as the library of Hugging Face decides it."""
    layers, window = config["num_hidden_layers"], config.get("sliding_window")
    kinds = config.get("layer_types")
    if kinds:
        return tuple(window if kind == "sliding_attention" else None for kind in kinds)
    if not window or config.get("use_sliding_window") is False:
        return _same(layers)
    pattern = config.get("sliding_window_pattern")
    return _mixed(layers, window, pattern) if pattern else _same(layers, window)


def _weights(config: Mapping[str, Any], heads: int, kv_heads: int, head_dim: int) -> int:
    """Count the weights of a Llama-shaped decoder: attention, gated MLP, norms, embeddings."""
    hidden, vocab = config["hidden_size"], config["vocab_size"]
    middle = config.get("intermediate_size") or 4 * hidden
    attention = 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim
    experts = config.get("num_local_experts") or 1
    layer = attention + 3 * hidden * middle * experts + 2 * hidden
    tables = 1 if config.get("tie_word_embeddings") else 2
    return int(config["num_hidden_layers"] * layer + tables * vocab * hidden + hidden)
