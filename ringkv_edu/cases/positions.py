"""Section C of the bug reports: positions, counters, and angles made from them."""

from __future__ import annotations

import numpy as np

from ..rope import rotate
from ..visibility import oracle_attention
from .adapter import Subject
from .case import Collector
from .twin import TOLERANCE, Differs, Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case


@case("20", "huggingface/transformers#38156", "the next position does not stop at the window")
def length_does_not_saturate(subject: Subject) -> None:
    """Append ten tokens with a window of four; the eleventh is at position 10."""
    twin = Twin(subject, window=4)
    for _ in range(10):
        twin.append()
    twin.expect_bounded()
    twin.append()
    if twin.held[-1:] != [10]:
        raise Differs(f"the eleventh token should be at position 10; it holds {twin.held}")


@case("21", "rajveer43/VeloxQuant-MLX#171", "positions count tokens, not rows kept", "sinks")
def positions_count_tokens(subject: Subject) -> None:
    """Append chunks with sinks: the newest position is the number of tokens less one."""
    twin = Twin(subject, window=4, sinks=2)
    for n in (3, 1, 9, 1, 2, 1):
        twin.append(n)
        if twin.held[-1] != twin.seen - 1:
            raise Differs(f"after {twin.seen} tokens the newest position is {twin.held[-1]}")


@case("24", "pytorch/executorch#14630", "rotated keys stay right for ten windows and more")
def rotated_far(subject: Subject) -> None:
    """Rotate queries and keys by their positions, forty tokens into a window of four."""
    _rotated(subject, [1] * 40)


@case("24a", "pytorch/executorch#14630", "rotation does not depend on how a text is cut")
def rotated_in_chunks(subject: Subject) -> None:
    """Feed the same rotated tokens in chunks that cross the wrap."""
    _rotated(subject, [3, 7, 1, 5, 4, 9, 1, 6, 4])


def _rotated(subject: Subject, sizes: list[int]) -> None:
    twin = Twin(subject, window=4)
    n = sum(sizes)
    q, k, v = twin.draw(n)
    places = np.arange(n)
    q, k = rotate(q, places), rotate(k, places)
    expected = oracle_attention(q, k, v, 4)
    start = 0
    for size in sizes:
        some = slice(start, start + size)
        out = np.asarray(twin.cache.step(q[:, some], k[:, some], v[:, some]))
        if not np.abs(out - expected[:, some]).max() <= TOLERANCE:
            raise Differs(f"rotated tokens {start} to {start + size - 1}: outputs differ")
        start += size
