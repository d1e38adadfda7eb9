"""Caches that the theatre is tried with: right ones, and wrong ones as learners write them."""

from __future__ import annotations

from typing import Any

from ringkv_edu import NaiveKVBuffer, NumpyRing, NumpySummaryRing, RingKVBuffer
from ringkv_edu.given import RingFields
from ringkv_edu.given_numpy import RingArrays
from ringkv_edu.paged_ring import PagedRing
from ringkv_edu.trace import Trace, record

WORDS = "the quick brown fox jumps over the lazy dog while a cat sleeps under the old tree".split()


class OffByOne(RingArrays):
    """Keeps one token too few: the slot is position % (W - 1)."""

    def append(self, k: Any, v: Any) -> None:
        slot = self.seen % (self.window - 1)
        self.keys[:, slot], self.values[:, slot] = k[:, 0], v[:, 0]
        self.positions[slot] = self.seen
        self.seen += 1


class SlotAsPosition(NumpyRing):
    """Stores the number of the slot where the position belongs."""

    def __init__(self, window: int) -> None:
        super().__init__(window, 1, 2)

    def append(self, k: Any, v: Any) -> None:
        super().append(k, v)
        for slot in range(self.slots):
            if self.positions[slot] >= 0:
                self.positions[slot] = slot


class NeverWraps(RingFields):
    """Writes to slot number position, for ever."""

    def append(self, key: Any, value: Any, position: int) -> None:
        self.keys[position], self.values[position] = list(key), list(value)
        self.positions[position] = position


def right() -> dict[str, Trace]:
    """Give a trace for each policy, in windows of 1, few and more than there are tokens."""
    found = {"naive": record(NaiveKVBuffer, 14)}
    for window in (1, 4, 8, 30):
        found[f"ring {window}"] = record(RingKVBuffer, 24, window_size=window)
        found[f"sinks {window}"] = record(lambda w=window: NumpyRing(w, 1, 2, sinks=2), 24)
    found["words"] = record(lambda: NumpyRing(5, 2, 4, sinks=1, slack=1), WORDS)
    for window, size in ((1, 1), (4, 3), (6, 4)):
        found[f"pages {window}"] = record(PagedRing, 24, window=window, page_size=size)
    for window, block in ((1, 1), (4, 3), (8, 4)):
        found[f"summaries {window}"] = record(
            lambda w=window, b=block: NumpySummaryRing(w, 1, 2, summaries=3, block=b), 24
        )
    return found


def wrong() -> dict[str, Trace]:
    return {
        "off by one": record(lambda: OffByOne(4), 14),
        "slot as position": record(lambda: SlotAsPosition(6), WORDS),
        "never wraps": record(NeverWraps, 9, window_size=4),
    }
