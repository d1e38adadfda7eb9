"""What settles the rows of article D: its two programs, what a window gains, drafts, prefixes."""

from __future__ import annotations

import numpy as np

from ..budget import GIB, first_gain
from ..given_summaries import PrefixSlidingCache, SlidingWindowCache
from ..numpy_ring import NumpyRing, RewindError
from ..paged import PagedSequence, PagePool
from ..paged_serving import PrefixIndex
from ..summaries import Fold, fold, folded, spans
from ..tiled import tiled_attention
from .row import Facts, Value
from .shapes import CARD, SEVEN, K, scores
from .small import gap, normal


def sizes() -> Facts:
    """D1: the cache of the 7B model at five lengths."""
    lengths = (1024, 4096, 8192, 16384, 32768)
    return {f"{n:,} tokens, GiB": SEVEN.cache_bytes(n) / GIB for n in lengths}


def sliding_demo() -> Facts:
    """D2: the rules of the first program, 20 tokens, W = 8, a summary every 4."""
    demo = SlidingWindowCache(8, 4)
    late = 0
    for token in range(1, 21):
        before = len(demo.points)
        demo.add(token)
        late += token >= 8 and len(demo.points) > before
    return {
        "length after token 9 made one leave": demo.after_eviction[0],
        "first points": " ".join(map(str, demo.points[:5])),
        "points by token 20": len(demo.points),
        "tokens from 8 to 20 that make one": late,
        "points by token 20, by a count of tokens": sum(t % 4 == 0 for t in range(1, 21)),
    }


def prefix_demo() -> Facts:
    """D3: the rules of the second program, 15 tokens numbered from 1, W = 6, every 3."""
    demo, first, gone, made = PrefixSlidingCache(6, 3), 0, "", ""
    for token in range(1, 16):
        held, many = list(demo.window), len(demo.summaries)
        demo.add(token)
        first = first or (token if demo.summaries else 0)
        if token == 7:
            gone = " ".join(str(t) for t in held if t not in demo.window)
            made = "one" if len(demo.summaries) > many else "none"
    return {
        "step of the first summary": first,
        "first summary": _span(demo.summaries[0]),
        "token that step 7 evicts": gone,
        "summary that step 7 makes": made,
        "summaries after 15 steps": ", ".join(map(_span, demo.summaries)),
    }


def _span(pair: tuple[int, int]) -> str:
    return f"{pair[0]}~{pair[1]}"


def counted() -> Facts:
    """D4: how many summaries cover a token, over 60 steps of the program; and the course's law."""
    demo, lengths, alive = PrefixSlidingCache(6, 3), {}, set()

    def covered(token: int) -> int:
        return sum(a <= token <= b for a, b in demo.summaries)

    for step in range(1, 301):
        demo.add(step)
        lengths[step] = len(demo.summaries)
        alive |= {covered(token) for token in demo.window} if step <= 60 else set()
    gone = {covered(token) for token in range(1, 301) if token not in demo.window}
    law = Fold(4, 3)
    return {
        "summaries that cover a token in the window": f"{min(alive)} to {max(alive)}",
        "summaries that cover a token that is gone": " ".join(map(str, sorted(gone))),
        "summaries after 30 steps": lengths[30],
        "summaries after 300 steps": lengths[300],
        "times the course's fold counts a token": _by_the_law(300, 6, law),
        "its summaries after 300 steps": len(_counts(300, 6, law)),
    }


def _counts(tokens: int, window: int, how: Fold) -> tuple[int, ...]:
    counts: tuple[int, ...] = ()
    for _ in range(folded(tokens, window, 0)):
        counts, _ = fold(counts, how)
    return counts


def _by_the_law(tokens: int, window: int, how: Fold) -> str:
    times = np.zeros(tokens, int)
    times[-window:] += 1
    for span in spans(_counts(tokens, window, how), 0):
        times[list(span)] += 1
    return " ".join(map(str, sorted(set(times.tolist()))))


def faster() -> Facts:
    """D5: how much shorter a step is with W = 1,024, from the bytes it reads."""
    ring = SEVEN.with_window(1024)
    facts: dict[str, Value] = {
        f"times faster at {n}K": ring.gain(SEVEN, CARD, n * K) for n in (16, 32, 64)
    }
    found = first_gain(ring, SEVEN, CARD, 3, range(K, 128 * K, K))
    return facts | {
        "times faster at 16K, eight requests": ring.gain(SEVEN, CARD, 16 * K, batch=8),
        "K tokens from which it is 3": (found or 0) / K,
        "throughput at 16K, full cards, times": ring.throughput_gain(SEVEN, CARD, 16 * K, 1),
    }


def drafts() -> Facts:
    """D7: draft three tokens over a full ring, and reject them."""
    k, v = normal(61, 2, 1, 23, 4)

    def after(slack: int) -> tuple[str, NumpyRing, int]:
        ring = NumpyRing(8, 1, 4, slack=slack, dtype=np.float64)
        ring.append(k[:, :20], v[:, :20])
        ring.append(k[:, 20:], v[:, 20:])
        lost = len(set(range(12, 20)) - set(ring.positions.tolist()))
        try:
            ring.rewind(3)
        except RewindError:
            return "refused", ring, lost
        return "taken back", ring, lost

    without, _, lost = after(0)
    with_slack, ring, kept = after(3)
    never = NumpyRing(8, 1, 4, slack=3, dtype=np.float64)
    never.append(k[:, :20], v[:, :20])
    q = normal(62, 1, 4)
    return {
        "three drafts, no slack": without,
        "keys of the window overwritten, no slack": lost,
        "three drafts, slack 3": with_slack,
        "keys of the window overwritten, slack 3": kept,
        "output afterwards, against no drafts at all": gap(ring.attend(q), never.attend(q)),
    }


def prefixes() -> Facts:
    """D8: look 14 tokens up in a prefix index, of a sequence that kept all and one with W = 4."""
    tokens = list(range(14))

    def reused(kept: int | None, window: int | None) -> int:
        pool = PagePool(20, 4, 1, 2)
        index, first = PrefixIndex(pool), PagedSequence(pool, kept)
        for _ in tokens:
            first.append(np.zeros((1, 2)), np.zeros((1, 2)))
        index.keep(tokens, first)
        return index.start(tokens, window).seen

    return {
        "tokens reused, all kept": reused(None, None),
        "tokens reused with W = 4, after W = 4": reused(4, 4),
        "tokens reused with W = 6, after W = 4": reused(4, 6),
        "tokens reused without a window, after W = 4": reused(4, None),
    }


def nothing() -> Facts:
    """D9: there is nothing to compute."""
    return {}


def first_and_further() -> Facts:
    """D10: arithmetic of the prefill and bytes of a step with W = 1,024, of what they were."""
    ring = SEVEN.with_window(1024)
    q, k, v = normal(63, 3, 1, 64, 4)
    _, causal = tiled_attention(q, k, v, tile=(8, 8))
    _, band = tiled_attention(q, k, v, 8, tile=(8, 8))
    return {
        "prefill of 4K, of what it was": _prefill(4 * K, 1024) / _prefill(4 * K),
        "prefill of 16K, of what it was": _prefill(16 * K, 1024) / _prefill(16 * K),
        "step after 16K, of what it was": 1 / ring.gain(SEVEN, CARD, 16 * K),
        "cache after 16K, of what it was": ring.cache_bytes(16 * K) / SEVEN.cache_bytes(16 * K),
        "tiles with a window and without": f"{band.computed} and {causal.computed}",
    }


def _prefill(tokens: int, window: int | None = None) -> float:
    """Count multiplications: each weight for each token; each score takes 2 d, for q.k and w.v."""
    model = SEVEN.model
    attention = 2 * model.layers * model.heads * model.head_dim * scores(tokens, window)
    return model.weights * tokens + attention
