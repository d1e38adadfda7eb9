"""Random lives of a ring beside its whole history.

The deep run, about 20,000 operations and more, with every kind counted and printed:

    RINGKV_DEEP=1 pytest tests/test_ring_properties.py
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringkv_edu.cases.adapter import Subject
from ringkv_edu.cases.twin import TOLERANCE, Differs, Twin
from ringkv_edu.visibility import slot_of

from .rings import each_ring

DEEP = "RINGKV_DEEP" in os.environ
EXAMPLES, LEAST = (1600, 500) if DEEP else (120, 10)
LONGEST = 48  # tokens of history: the oracle's time grows with its square
KINDS = (
    "append", "step", "attend", "chunk step", "one-token step on a full ring", "wrap",
    "chunk longer than the ring", "rewind", "refusal", "double rewind", "write after a rewind",
    "reset", "state round trip",
)  # fmt: skip

sizes = st.tuples(st.integers(1, 8), st.integers(0, 4), st.integers(0, 4), st.integers(1, 4))
amounts = st.one_of(st.just(1), st.integers(1, 4), st.integers(1, 20))
operations = st.one_of(
    st.tuples(st.just("append"), amounts),
    st.tuples(st.just("step"), amounts),
    st.tuples(st.just("rewind"), st.one_of(st.integers(0, 4), st.integers(0, 20))),
    st.tuples(st.sampled_from(["reset", "state round trip", "attend"]), st.just(0)),
)


class Life(Twin):
    """A twin with random values that counts what happened to it, and knows what must be held."""

    def __init__(self, subject: Subject, sizes: tuple[int, ...], counts: Counter[str]) -> None:
        window, sinks, slack, group = sizes
        super().__init__(subject, window, sinks, slack, kv_heads=2, group=group, head_dim=8)
        self.counts, self.must_hold, self.back = counts, set[int](), False
        self.worst = 0.0

    def values(self, n: int) -> Any:
        return self.rng.normal(size=(self.kv_heads, n, self.head_dim)).astype(np.float32)

    def compare(self, out: Any, start: int) -> None:
        expected = self.expected(start)
        assert out.shape == expected.shape
        assert out.dtype == np.float32
        worst = float(np.abs(out - expected).max(initial=0))
        self.worst = max(self.worst, worst)
        if not worst <= TOLERANCE:
            raise Differs(f"{self.where}: queries from {start} on differ by {worst:.2g}")

    def do(self, what: str, n: int) -> None:
        if what in ("append", "step"):
            if self.seen + n > LONGEST:
                self.do("reset", 0)
            self._write(what, n)
        elif what == "rewind":
            self._take_back(n)
        else:
            self.counts[what] += 1
            {"reset": self.reset, "state round trip": self.restore, "attend": self.attend}[what]()
            if what == "reset":
                self.must_hold, self.back = set(), False
        assert self.held == sorted(self.must_hold)

    def _write(self, what: str, n: int) -> None:
        ring, first = self.window + self.slack, self.seen
        full = len(self.must_hold) == self.sinks + ring
        places = [slot_of(p, ring, self.sinks) for p in range(first, first + n)]
        self.counts[what] += 1
        self.counts["chunk step"] += what == "step" and n > 1
        self.counts["one-token step on a full ring"] += what == "step" and n == 1 and full
        self.counts["wrap"] += first + n > self.sinks + ring and self.sinks in places
        self.counts["chunk longer than the ring"] += n > ring
        self.counts["write after a rewind"] += self.back
        self.back = False
        (self.append if what == "append" else self.step)(n)
        self.must_hold |= set(range(first, first + n))
        self.must_hold = {p for p in self.must_hold if p < self.sinks or p >= self.seen - ring}

    def _take_back(self, n: int) -> None:
        length = self.seen - n
        needed = {*range(min(self.sinks, length)), *range(max(0, length - self.window), length)}
        allowed = length >= 0 and needed <= self.must_hold
        assert self.rewind(n) == allowed
        self.counts["rewind" if allowed else "refusal"] += 1
        self.counts["double rewind"] += n > 0 and self.back
        if allowed:
            self.back = self.back or n > 0
            self.must_hold = {p for p in self.must_hold if p < length}


@each_ring
def test_random_lives(subject: Subject, capsys: Any) -> None:
    counts: Counter[str] = Counter()
    worst = 0.0

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=not DEEP, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(sizes, st.lists(operations, min_size=20, max_size=40))
    def live(sizes: tuple[int, ...], life: list[tuple[str, int]]) -> None:
        nonlocal worst
        ring = Life(subject, sizes, counts)
        for what, n in life:
            counts["operations"] += 1
            ring.do(what, n)
            if what != "attend":
                ring.attend()
        worst = max(worst, ring.worst)

    live()
    if DEEP:
        with capsys.disabled():
            print(f"\n{counts['operations']} operations, largest difference {worst:.2g}")
            print("\n".join(f"{counts[kind]:6} {kind}" for kind in KINDS))
    assert {kind for kind in KINDS if counts[kind] < LEAST} == set()
    assert counts["operations"] >= (20_000 if DEEP else 1000)
