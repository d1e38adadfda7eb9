"""What settles the rows of article B: bytes, what fits, and what a step has to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..budget import GB, GIB, KIB, MIB, NUMBERS, Plan, Policy
from ..budget_presets import CARDS, MODELS
from ..quantize import quantize
from .row import Facts
from .shapes import CARD, SEVEN, THIRTEEN, K, read_ms, room_for, scores, wide
from .small import Array, longformer_mask, normal


def one_request() -> Facts:
    """B1: the cache of one request and of eight."""
    plan, tokens = wide(32, 4096), 32 * K
    return {
        "one request, GB": plan.cache_bytes(tokens) / GB,
        "one request, GiB": plan.cache_bytes(tokens) / GIB,
        "eight requests, GB": plan.cache_bytes(tokens, batch=8) / GB,
    }


def thousand_tokens() -> Facts:
    """B2: 1,024 tokens of the 7B model, and the tokens that 6 and 8 GB hold."""
    hold = {gb: SEVEN.longest_context(room_for(SEVEN, gb), use=1) for gb in (6, 8)}
    return {
        "1,024 tokens, GiB": SEVEN.cache_bytes(K) / GIB,
        "tokens in 6 GB": hold[6],
        "tokens in 8 GB": hold[8],
    }


def four_to_thirty_two() -> Facts:
    """B3: what grows, and how many times, from 4K to 32K tokens."""
    short, long = 4 * K, 32 * K
    entries = Policy().entries
    return {
        "scores of a decoded token, times": entries(long, None) / entries(short, None),
        "bytes of the cache, times": SEVEN.cache_bytes(long) / SEVEN.cache_bytes(short),
        "scores of the prefill, times": scores(long) / scores(short),
        "projections and MLP of the prefill, times": (
            SEVEN.model.weights * long / (SEVEN.model.weights * short)
        ),
    }


def a_token() -> Facts:
    """B4: one token of the 7B model."""
    return {
        "numbers a token": SEVEN.token_bytes / NUMBERS[SEVEN.cache],
        "a token, MiB": SEVEN.token_bytes / MIB,
        "a token, KiB": SEVEN.token_bytes / KIB,
        "1,024 tokens, MiB": SEVEN.cache_bytes(K) / MIB,
        "10,000 tokens, GB": SEVEN.cache_bytes(10_000) / GB,
    }


def fewer_bits() -> Facts:
    """B5: 1,024 tokens in 8 and in 4 bits, and what the scales add to 4."""
    sample = normal(0, 32, 16, 128)
    return {
        "8 bits, MiB": replace(SEVEN, cache="float8").cache_bytes(K) / MIB,
        "4 bits, MiB": replace(SEVEN, cache="int4").cache_bytes(K) / MIB,
        "bits a number, with scales": 8 * quantize(sample, 4).nbytes / sample.size,
    }


def thirteen() -> Facts:
    """B6: the 13B model as printed, with 32 layers, and as it is."""
    printed, real = Plan(MODELS["article-13b"]), Plan(MODELS["llama-2-13b"])
    return {
        "32 layers, 1,024 tokens, MiB": printed.cache_bytes(K) / MIB,
        "32 layers, 32K tokens, GiB": printed.cache_bytes(32 * K) / GIB,
        "40 layers, 1,024 tokens, MiB": real.cache_bytes(K) / MIB,
        "40 layers, 32K tokens, GB": real.cache_bytes(32 * K) / GB,
        "layers of a 13B": real.model.layers,
    }


def reading() -> Facts:
    """B7: the time that reading takes at 1 TB/s, the cache alone and with the weights."""
    return {
        "cache of 32K tokens, ms": read_ms(SEVEN, 32 * K),
        "cache of 8K tokens, ms": read_ms(SEVEN, 8 * K),
        "with the weights, 32K tokens, ms": 1e3 * SEVEN.step_seconds(CARD, 32 * K),
        "A100 of 40 GB, TB/s": CARDS["a100-40gb"].bandwidth / 1e12,
        "A100 of 80 GB, TB/s": CARDS["a100-80gb"].bandwidth / 1e12,
    }


def square() -> Facts:
    """B8: all pairs of 20,000 tokens, and those that a causal mask leaves."""
    tokens = 20_000
    return {
        "scores a head, millions": tokens * tokens / 1e6,
        "causal, millions": scores(tokens) / 1e6,
    }


def what_fits() -> Facts:
    """B9: the tokens of the 13B model that 80 GB hold beside 26 GB of weights."""
    return {
        "K tokens": THIRTEEN.room(CARD, use=1) / THIRTEEN.token_bytes / K,
        "tokens, by division": THIRTEEN.room(CARD, use=1) / THIRTEEN.token_bytes,
        "whole tokens that fit": THIRTEEN.longest_context(CARD, use=1),
    }


def peak() -> Facts:
    """B10: eight requests of 64K tokens, compressed four times, in 8 bits."""
    plan, tokens = replace(THIRTEEN, cache="int8"), 64 * K // 4
    cache = plan.cache_bytes(tokens, batch=8)
    left = replace(CARD, memory=70 * GB)
    return {
        "caches, GB": cache / GB,
        "weights, GB": plan.weight_bytes / GB,
        "peak, GB": (cache + plan.weight_bytes) / GB,
        "tokens a request within 70 GB": plan.longest_context(left, batch=8, use=1),
    }


def beside_the_weights() -> Facts:
    """B11: the cache of 32K tokens over the weights of the 7B model."""
    cache = SEVEN.cache_bytes(32 * K)
    return {
        "cache, GB": cache / GB,
        "weights, GB": SEVEN.weight_bytes / GB,
        "cache over weights": cache / SEVEN.weight_bytes,
    }


def mixed_layers() -> Facts:
    """B12: what is saved when some of 32 layers stay in fp16, and how many may."""
    whole = SEVEN.cache_bytes(K)
    layers = SEVEN.model.layers
    eight = replace(SEVEN, cache="int8").cache_bytes(K)

    def saved(kept: float) -> float:
        return 1 - (kept * whole + (layers - kept) * eight) / layers / whole

    def kept(share: float) -> float:
        return (saved(0) - share) / (saved(0) - saved(layers)) * layers

    return {
        "kept to save 40 %": kept(0.4),
        "kept to save 30 %": kept(0.3),
        "saved with 7 kept, %": 100 * saved(7),
        "saved with 12 kept, %": 100 * saved(12),
    }


def sparse() -> Facts:
    """B13: how many times the work grows when a text grows four times, from 256 to 1,024."""
    return {
        "Longformer, scores": _growth(lambda n: longformer_mask(n, 16, 2).sum()),
        "BigBird, scores": _growth(lambda n: (longformer_mask(n, 16, 2) | _random(n, 3)).sum()),
        "Sparse Transformer, scores": _growth(lambda n: _strided(n).sum()),
        "Reformer, sorting": _growth(lambda n: n * np.log2(n)),
    }


def _growth(count: Callable[[int], float]) -> float:
    return float(count(1024) / count(256))


def _random(tokens: int, each: int) -> Array:
    """Let each query see a few keys drawn at random."""
    mask = np.zeros((tokens, tokens), bool)
    chosen = np.random.default_rng(0).integers(0, tokens, (tokens, each))
    mask[np.arange(tokens)[:, None], chosen] = True
    return mask


def _strided(tokens: int) -> Array:
    """Let each query see the last sqrt(n) keys, and every sqrt(n)-th one before them."""
    stride, at = int(tokens**0.5), np.arange(tokens)
    back = at[:, None] - at
    mask: Array = (back >= 0) & ((back < stride) | (back % stride == 0))
    return mask


def eight_bit_step() -> Facts:
    """B14: what a decode step of the 7B model reads at 32K, its cache in 8 bits over 16."""
    eight, tokens = replace(SEVEN, cache="float8"), 32 * K
    return {
        "the cache, of what it was": eight.cache_bytes(tokens) / SEVEN.cache_bytes(tokens),
        "the whole step, of what it was": (
            eight.step_seconds(CARD, tokens) / SEVEN.step_seconds(CARD, tokens)
        ),
    }
