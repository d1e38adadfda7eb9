"""Tiny random models of the transformers library, and what they give without any cache."""

from __future__ import annotations

from functools import cache as once
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from ringkv_edu.visibility import sees

Tensor = torch.Tensor
WINDOW, VOCAB, STEPS = 32, 61, 96
SIZES: dict[str, Any] = {
    "vocab_size": VOCAB, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": None, "initializer_range": 0.05,
}  # fmt: skip
MIXED = ["full_attention", "sliding_attention"]


def of(kind: Any, config: Any, attention: str = "sdpa") -> Any:
    torch.manual_seed(0)
    model = kind(config).eval()
    model.set_attn_implementation(attention)
    return model


@once
def mistral(attention: str = "sdpa") -> Any:
    return of(MistralForCausalLM, MistralConfig(sliding_window=WINDOW, **SIZES), attention)


@once
def llama(attention: str = "sdpa") -> Any:
    return of(LlamaForCausalLM, LlamaConfig(**SIZES), attention)


@once
def qwen2() -> Any:
    more = {"use_sliding_window": True, "sliding_window": WINDOW, "layer_types": MIXED}
    return of(Qwen2ForCausalLM, Qwen2Config(**SIZES, **more))


@once
def gemma3(attention: str = "sdpa") -> Any:
    more = {"sliding_window": WINDOW, "layer_types": MIXED, "query_pre_attn_scalar": 8}
    return of(Gemma3ForCausalLM, Gemma3TextConfig(**SIZES, **more), attention)


def text(batch: int, n: int, seed: int = 0) -> Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randint(3, VOCAB, (batch, n), generator=made)


def left_padded(prompts: Tensor, pads: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Replace the first tokens of each row by padding; give the tokens and the attention mask."""
    real = torch.arange(prompts.shape[1]) >= torch.tensor(pads)[:, None]
    return prompts.masked_fill(~real, 0), real.long()


def window_mask(real: Tensor, window: int | None, sinks: int = 0, dtype: Any = None) -> Tensor:
    """What each column sees of each, by the one rule over real tokens: (batch, 1, n, n)."""
    position = torch.where(real.bool(), real.cumsum(1) - 1, -1)
    far = real.shape[1] if window is None else window
    seen = sees(position[:, :, None], position[:, None], far, sinks)[:, None]
    seen = seen | torch.eye(real.shape[1], dtype=torch.bool)  # padding sees itself
    return seen if dtype is None else torch.where(seen, 0.0, torch.finfo(dtype).min).to(dtype)


def position_ids(real: Tensor) -> Tensor:
    return (real.cumsum(1) - 1).clamp(min=0)


@torch.no_grad()
def uncached(model: Any, tokens: Tensor, real: Tensor, window: int, sinks: int = 0) -> Tensor:
    """Logits of one forward over the whole text, by a model that is given its mask."""
    kind = torch.float32 if model.config._attn_implementation == "eager" else None
    mask = window_mask(real, window, sinks, kind)
    given = {"attention_mask": mask, "position_ids": position_ids(real), "use_cache": False}
    return model(tokens, **given).logits


@torch.no_grad()
def streamed(
    model: Any, cache: Any, tokens: Tensor, real: Tensor | None, chunks: list[int]
) -> Tensor:
    """Logits of the same text, given in chunks, with a cache."""
    out, start = [], 0
    for n in chunks:
        stop = start + n
        given: dict[str, Any] = {"cache": cache}
        if real is not None:
            given["attention_mask"] = real[:, :stop]
            given["position_ids"] = position_ids(real)[:, start:stop]
        out.append(model(tokens[:, start:stop], **given).logits)
        start = stop
    return torch.cat(out, dim=1)


def gap(a: Tensor, b: Tensor, real: Tensor | None = None) -> float:
    """The largest difference of two logits where a token is real, over their scale."""
    if real is not None:
        a, b = a[real.bool()], b[real.bool()]
    return float((a - b).abs().max() / b.abs().max())


ROW_CALLS: list[tuple[Any, list[int]]] = [
    (lambda c: c.reorder_cache(torch.tensor([1, 1])), [1, 1]),
    (lambda c: c.reorder_cache(torch.tensor([1, 0])), [1, 0]),
    (lambda c: c.batch_select_indices(torch.tensor([1])), [1]),
    (lambda c: c.batch_select_indices(torch.tensor([False, True])), [1]),
    (lambda c: c.batch_repeat_interleave(2), [0, 0, 1, 1]),
]


class Windowed(LlamaForCausalLM):
    """A Llama that masks by the one rule and keeps no cache: what `generate` must give."""

    sinks = 0

    def forward(self, input_ids: Any = None, attention_mask: Any = None, **more: Any) -> Any:
        more = {k: v for k, v in more.items() if k in ("return_dict", "logits_to_keep")}
        mask = window_mask(attention_mask, WINDOW, self.sinks)
        where = position_ids(attention_mask)
        given = {"attention_mask": mask, "position_ids": where, "use_cache": False}
        return super().forward(input_ids, **given, **more)


def windowed(sinks: int) -> Any:
    model = of(Windowed, LlamaConfig(**SIZES))
    model.sinks = sinks
    return model
