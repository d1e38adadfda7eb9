"""Section I of the bug reports: what a window costs, and that it never costs more."""

from __future__ import annotations

from typing import Any

from .adapter import Subject
from .case import Collector
from .twin import Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case
SIZES = (1, 1, 3, 9, 1, 14, 1, 1)


@case("55", "vllm-project/vllm#39254", "a window costs its own rows, not the text's", "bytes")
def bytes_of_a_window(subject: Subject) -> None:
    """Compare small windows with one of 100, after 100 tokens: rows decide, give or take one."""
    large = Twin(subject, window=100)
    large.append(100)
    row = subject.nbytes(large.cache) / 100
    extras = [(0, 0), (2 * ("sinks" in subject.offers), 3 * ("slack" in subject.offers))]
    for sinks, slack in dict.fromkeys(extras):
        small = Twin(subject, 4, sinks, slack)
        small.append(100)
        rows = subject.nbytes(small.cache) / row
        if abs(rows - (4 + sinks + slack)) > 1.1:  # one less, or a cursor's bytes, is no matter
            raise small.differs(f"after 100 tokens it takes the bytes of {rows:.3g} rows")
        if "storage" in subject.offers:
            stored = small.cache.keys.nbytes + small.cache.values.nbytes
            if subject.nbytes(small.cache) < stored:
                raise small.differs(f"it counts {subject.nbytes(small.cache)} of {stored} bytes")


@case("55a", "vllm-project/vllm#39254", "once full, bytes never change", "bytes")
def bytes_stay(subject: Subject) -> None:
    """Look at the bytes after single tokens and after chunks longer than the window."""
    for window in (1, 4):
        twin = Twin(subject, window)
        for _ in range(window):
            twin.append()
        before = subject.nbytes(twin.cache)
        for n in SIZES:
            twin.append(n)
            if subject.nbytes(twin.cache) != before:
                now = subject.nbytes(twin.cache)
                raise twin.differs(f"{before} bytes when full, {now} after a chunk of {n}")


@case("55b", "vllm-project/vllm#39254", "the storage is made once", "storage")
def storage_stays(subject: Subject) -> None:
    """Look at the addresses of keys and values after every append, step and reset."""
    twin = Twin(subject, window=4)
    before = _addresses(twin.cache)
    for n in SIZES:
        twin.step(n)
        twin.append(n)
        if _addresses(twin.cache) != before:
            raise twin.differs(f"after {twin.seen} tokens keys and values lie somewhere else")
    twin.reset()
    if _addresses(twin.cache) != before:
        raise twin.differs("after reset() keys and values lie somewhere else")


@case("41b", "JaydenLyh/Reward-Forcing#5", "no position is stored twice, the newest never lost")
def no_duplicates(subject: Subject) -> None:
    """Look at the stored positions after single tokens and chunks."""
    for window in range(1, 6):
        twin = Twin(subject, window)
        for n in SIZES:
            twin.append(n)
            twin.expect_needed()


def _addresses(cache: Any) -> list[int]:
    return [
        x.data_ptr() if hasattr(x, "data_ptr") else x.__array_interface__["data"][0]
        for x in (cache.keys, cache.values)
    ]
