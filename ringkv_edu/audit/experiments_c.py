"""What settles the rows of article C: bytes, tiles, pages and tiers."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from ..budget import GB, GIB, KIB, MIB, NUMBERS
from ..numpy_ring import NumpyRing
from ..paged import pages_needed
from ..paged_serving import fragmentation
from ..quantize import quantize
from ..rope import rotate
from ..tiers import TieredCache
from ..tiled import Work, shared_tiles, tiled_attention
from ..visibility import oracle_attention
from .row import Facts, Value
from .shapes import CARD, HALF, SEVEN, K, read_ms, scores, wide
from .small import Array, gap, normal


def all_scores() -> Facts:
    """C1: the scores of 128K by 128K tokens in fp16."""
    tokens = 128 * K
    return {
        "scores, GB": tokens * tokens * HALF / GB,
        "scores, GiB": tokens * tokens * HALF / GIB,
        "causal, GiB": scores(tokens) * HALF / GIB,
    }


def keys_alone() -> Facts:
    """C2: keys of 128,000 tokens, 32 heads of 128 numbers."""
    one, all_layers, tokens = wide(1, 4096), wide(32, 4096), 128_000
    return {
        "a layer's keys, millions of numbers": (
            one.cache_bytes(tokens) / 2 / NUMBERS[one.cache] / 1e6
        ),
        "a layer's keys, GB": one.cache_bytes(tokens) / 2 / GB,
        "keys of 32 layers, GB": all_layers.cache_bytes(tokens) / 2 / GB,
        "keys and values of 32 layers, GB": all_layers.cache_bytes(tokens) / GB,
    }


class _Layer:
    """An attention layer that counts the tokens it projects and the scores of its newest query."""

    def __init__(self, turned: bool) -> None:
        self.weights, self.turned = normal(31, 3, 8, 8), turned
        self.projected = self.scores = 0

    def qkv(self, x: Array, first: int) -> tuple[Array, Array, Array]:
        """Project tokens that stand at ``first`` and after."""
        self.projected += len(x)
        q, k, v = ((x @ w)[None] for w in self.weights)
        if self.turned:
            q, k = (rotate(a, range(first, first + len(x))) for a in (q, k))
        return q, k, v

    def again(self, x: Array) -> Array:
        """Give the newest output from all tokens."""
        q, k, v = self.qkv(x, 0)
        self.scores += k.shape[1]
        out: Array = oracle_attention(q, k, v, len(x), first=len(x) - 1)[0, 0]
        return out

    def step(self, x: Array, ring: NumpyRing) -> Array:
        """Give the newest output from one token and a cache."""
        q, k, v = self.qkv(x[-1:], ring.seen)
        out: Array = ring.step(q, k, v)[0, 0]
        self.scores += ring.size
        return out


def what_a_cache_saves() -> Facts:
    """C3: decode 20 tokens after a prompt of 100, with a cache and without, turned and not."""
    x, prompt = normal(32, 120, 8), 100
    facts: dict[str, Value] = {}
    for turned in (False, True):
        plain, cached = _Layer(turned), _Layer(turned)
        ring = NumpyRing(len(x), 1, 8, dtype=float)
        ring.append(*cached.qkv(x[:prompt], 0)[1:])
        cached.projected, worst = 0, 0.0
        for n in range(prompt + 1, len(x) + 1):
            worst = max(worst, gap(plain.again(x[:n]), cached.step(x[:n], ring)))
        name = "RoPE" if turned else "no RoPE"
        old = plain.projected - len(x) + prompt  # what is projected anew though it was before
        facts[f"old tokens not projected again, {name}, %"] = (
            100 * (plain.projected - cached.projected) / old
        )
        facts[f"scores skipped, {name}, %"] = 100 * (1 - cached.scores / plain.scores)
    return facts | {"tokens projected without a cache": plain.projected,
                    "tokens projected with a cache": cached.projected,
                    "largest difference of outputs": worst}  # fmt: skip


def shared_memory() -> Facts:
    """C7: tiles of 164 KiB, and how many sets of a Q, a K and a V tile they are."""
    small, large = (shared_tiles(164 * KIB, tile, tile) for tile in (128, 256))
    return {
        "tiles of 128 x 128": small,
        "tiles of 256 x 256": large,
        "sets of Q, K and V, 128 x 128": small // 3,
        "sets of Q, K and V, 256 x 256": large // 3,
    }


def smaller() -> Facts:
    """C8: 32 heads of 128 in fp16 over 8 heads of 64 in int8, without scales and with them."""
    before = wide(32, 4096)
    after = replace(before, model=replace(before.model, kv_heads=8, head_dim=64), cache="int8")
    sample = normal(0, 8, 16, 64)
    return {
        "times smaller": before.token_bytes / after.token_bytes,
        "times smaller, scales counted": (
            before.token_bytes / after.token_bytes * sample.size / quantize(sample, 8).nbytes
        ),
    }


def tiles() -> Facts:
    """C9: tiled attention over 64 and 128 tokens, in tiles of 8 by 8."""
    work: dict[int, Work] = {}
    for n in (64, 128):
        q, k, v = normal(n, 3, 1, n, 8)
        out, work[n] = tiled_attention(q, k, v, tile=(8, 8))
    return {
        "difference from the plain softmax": gap(out, oracle_attention(q, k, v, n)),
        "numbers held, times": work[128].held / work[64].held,
        "tiles, times": work[128].tiles / work[64].tiles,
        "tiles computed, causal": f"{work[64].computed} and {work[128].computed}",
    }


def traffic() -> Facts:
    """C10: what a token's cache and the weights of one layer of the 7B model weigh."""
    width, vocabulary = SEVEN.model.heads * SEVEN.model.head_dim, 32_000
    outside = 2 * vocabulary * width + width  # two tables of words, and the last norm
    layer = (SEVEN.model.weights - outside) / SEVEN.model.layers
    return {
        "a token in a layer, KiB": SEVEN.entry_bytes / KIB,
        "a layer's weights, MB": layer * NUMBERS[SEVEN.stored] / 1e6,
    }


def page_size() -> Facts:
    """C11: the printed formula for 128K tokens of 4,096, and what pages of 16 tokens do."""
    longest, width = 128 * K, 4096
    page = ceil(longest * width / 1024) * 1024
    whole, small = (fragmentation([1000], longest, size) for size in (longest, 16))
    return {
        "a page, MiB": page / MIB,
        "pages that the longest request fills": longest * width / page,
        "places taken by 1,000 tokens, that page": whole.paged,
        "places taken by 1,000 tokens, reserved": whole.reserved,
        "places taken by 1,000 tokens, pages of 16": small.paged,
        "pages of 16 for a window of 1,024": pages_needed(1024, 16),
    }


def cold() -> Facts:
    """C13: what it takes to read 96K cold tokens over a link of 64 GB/s."""
    tokens, link = 96 * K, replace(CARD, bandwidth=64 * GB)
    step = 1e3 * SEVEN.step_seconds(CARD, 128 * K)
    all_read = read_ms(SEVEN, tokens, link)
    return {
        "96K tokens, GB": SEVEN.cache_bytes(tokens) / GB,
        "reading them, seconds": all_read / 1e3,
        "step, all on the device, ms": step,
        "longer if all are read, %": 100 * all_read / step,
        "longer if 1.1 % are read, %": 100 * 0.011 * all_read / step,
        "cold tokens readable in 11 %, %": 11 * step / all_read,
        "share of the cold tier that a query reads": _read_share(),
    }


def _read_share() -> float:
    """Ask a small cache of three tiers once, and see how much of the cold one was read."""
    k, v = normal(33, 2, 200, 1, 8)
    with TemporaryDirectory() as folder:
        cache = TieredCache(32, 2, 1, 8, Path(folder))
        for pair in zip(k, v, strict=True):
            cache.append(*pair)
        cache.attend(k[-1])
        return cache.read["cold"] / cache.nbytes["cold"]
