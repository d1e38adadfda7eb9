"""Ways to keep a past, and what each takes: the data of ``course/other_roads.md`` and its picture.

One layer of 8 key/value heads of 128 numbers in fp16: an entry, a token's key and value, is 4 KiB.
Layers that mix kinds are counted as the mean of a layer. Scales, states and positions are counted;
what lies outside the device is not, and is said.

Sources: those of ``course/other_roads.md``; system S39.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["LENGTHS", "ROADS", "SHOWN", "Road", "lines", "size_text"]

KV_HEADS, HEAD_DIM = 8, 128
ENTRY = 2 * KV_HEADS * HEAD_DIM * 2
WINDOW, SINKS, SUMMARIES = 1024, 4, 64
STATE = KV_HEADS * (HEAD_DIM * HEAD_DIM + HEAD_DIM) * 4  # a matrix and a sum a head, float32
LENGTHS = (4096, 32768, 131072)
SHOWN = 32768

FEW_BITS = 2 * KV_HEADS * HEAD_DIM // 2 + 4 * KV_HEADS * HEAD_DIM // 32 + 4 * KV_HEADS
"""A token in 4 bits: numbers, a scale and a lowest value for each channel of 32 tokens' keys, and
for each token's values, in every head."""
EIGHT_BITS = 2 * KV_HEADS * (HEAD_DIM + 4)
"""A token in 8 bits, with a scale and a lowest value for each token, in every head."""


@dataclass(frozen=True)
class Road:
    """One way to keep a past.

    ``held`` gives bytes on the device after n tokens, ``exact`` the tokens whose own keys and
    values are there, unchanged; ``kind`` is what becomes of the others.
    """

    name: str
    kind: str  # "exact", "blurred", "mixed" or "gone"
    formula: str
    held: Callable[[int], float]
    exact: Callable[[int], int]
    also: str = ""  # what holds in some layers

    @property
    def still_exact(self) -> str:
        """Say how many tokens are exact after ``SHOWN``."""
        many = self.exact(SHOWN)
        words = "all" if many == SHOWN else f"{many:,}" if many else "none"
        return f"{words}; {self.also}" if self.also else words


def _everything(n: int) -> int:
    return n


def _window(n: int) -> int:
    return min(n, WINDOW)


ROADS = (
    Road("everything", "exact", "n entries", lambda n: ENTRY * n, _everything),
    Road("everything, in 4 bits", "blurred", "0.29 n entries, the newest 32 exact",
         lambda n: FEW_BITS * (n - 32) + 32 * ENTRY, lambda n: 32),
    Road("one layer in six global", "gone", "(5 W + n) / 6 entries",
         lambda n: ENTRY * (5 * WINDOW + n) / 6, _window, "all in one layer of six"),
    Road("one layer in eight attends", "mixed", "(n entries + 7 states) / 8",
         lambda n: (ENTRY * n + 7 * STATE) / 8, lambda n: 0, "all in one layer of eight"),
    Road("three tiers", "blurred", "W entries, 4 W in 8 bits; the rest elsewhere",
         lambda n: ENTRY * WINDOW + min(n - WINDOW, 4 * WINDOW) * EIGHT_BITS, _window),
    Road("window, every 128th token", "gone", "W + n / 128 entries",
         lambda n: ENTRY * (WINDOW + (n - WINDOW) / 128), lambda n: WINDOW + (n - WINDOW) // 128),
    Road("window, 64 summaries", "blurred", "W + 64 entries",
         lambda n: ENTRY * (WINDOW + SUMMARIES), _window),
    Road("kept by score", "gone", "W entries, and where each stood",
         lambda n: (ENTRY + 8 * KV_HEADS) * WINDOW, _window),
    Road("window, 4 sinks", "gone", "W + 4 entries", lambda n: ENTRY * (WINDOW + SINKS),
         lambda n: WINDOW + SINKS),
    Road("window", "gone", "W entries", lambda n: ENTRY * WINDOW, _window),
    Road("window, and retrieval", "gone", "W entries; 4 n bytes of text elsewhere",
         lambda n: ENTRY * WINDOW, _window),
    Road("window of 128, 1 for each 128", "blurred", "128 + n / 128 entries",
         lambda n: ENTRY * (128 + (n - 128) // 128), lambda n: 128),
    Road("a state", "mixed", "one state", lambda n: STATE, lambda n: 0),
)  # fmt: skip


def size_text(size: float) -> str:
    """Write bytes in MiB, with as many digits as tell roads apart."""
    mib = size / 2**20
    return f"{mib:.0f}" if mib >= 99.5 else f"{mib:.1f}" if mib >= 9.95 else f"{mib:.2f}"


def lines() -> list[str]:
    """Give the rows of the table: road, formula, MiB at each length, exact, and the others."""
    return [
        f"| {road.name} | {road.formula} | "
        + " | ".join(size_text(road.held(n)) for n in LENGTHS)
        + f" | {road.still_exact} | {road.kind} |"
        for road in ROADS
    ]
