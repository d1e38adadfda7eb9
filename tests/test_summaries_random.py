"""Random schedules of summary rings: the law, row by row, beside the whole history.

Keys and values are random, and values carry one number for each position, so that one output says
both what attention gave and how much each position weighed. The deep run, 5,000 schedules, with
every kind counted and printed:

    RINGKV_DEEP=1 pytest -s tests/test_summaries_random.py
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from ringkv_edu.numpy_summaries import NumpySummaryRing
from ringkv_edu.rewind import RewindError
from ringkv_edu.summaries import Fold, folded, oracle_summaries
from ringkv_edu.torch_summaries import TorchSummaryRing

DEEP = "RINGKV_DEEP" in os.environ
SCHEDULES, LEAST = (5000, 900) if DEEP else (120, 8)
LONGEST, HEADS, KV_HEADS, HEAD_DIM = 44, 4, 2, 44
KINDS = (
    "numpy", "torch", "merge oldest", "merge least", "a batch", "one row", "ragged", "padded left",
    "padded right", "a length of 0", "one token", "a chunk", "longer than the window", "append",
    "sinks", "slack", "rewind", "refusal", "reset of all", "reset of some rows", "reorder", "state",
    "a merge", "blocks of 1", "one summary", "turned at the centre", "equal scores", "everything seen",
)  # fmt: skip


class Schedule:
    """Rows that live in one ring, and what each row was given."""

    def __init__(self, seed: int, counts: Counter[str]) -> None:
        self.rng, self.counts = np.random.default_rng(seed), counts
        draw = self.rng.integers
        self.kind = ["numpy", "torch"][seed % 2]
        self.batch = 1 if self.kind == "numpy" else int(draw(1, 4))
        wide = draw(5) == 0  # a window that nothing ever leaves: exact
        self.window = LONGEST if wide else int(draw(1, 9))
        self.sinks, self.slack = int(draw(0, 4)) * (draw(2)), int(draw(0, 5)) * (draw(2))
        self.how = Fold(int(draw(1, 6)), int(draw(1, 5)), ["oldest", "least"][draw(2)])
        self.base = 10000.0 if draw(3) == 0 else None
        self.flat = draw(4) == 0  # equal scores
        self.ring = self._ring()
        empty = np.zeros((HEADS, 0, HEAD_DIM))
        self.texts = [[empty, empty[:KV_HEADS], empty[:KV_HEADS]] for _ in range(self.batch)]
        self.longest = [0] * self.batch  # that each row has been since it was empty
        self._note(self.kind, f"merge {self.how.merge}")
        self._note("a batch" if self.batch > 1 else "one row")
        self._if(self.sinks > 0, "sinks")
        self._if(self.slack > 0, "slack")
        self._if(self.how.block == 1, "blocks of 1")
        self._if(self.how.slots == 1, "one summary")
        self._if(self.base is not None, "turned at the centre")
        self._if(self.flat, "equal scores")

    def _ring(self) -> Any:
        sizes: dict[str, Any] = {"window": self.window, "kv_heads": KV_HEADS, "head_dim": HEAD_DIM}
        sizes |= {"sinks": self.sinks, "slack": self.slack, "base": self.base}
        sizes |= {"summaries": self.how.slots, "block": self.how.block, "merge": self.how.merge}
        if self.kind == "numpy":
            return NumpySummaryRing(**sizes, dtype=np.float64)
        return TorchSummaryRing(batch=self.batch, **sizes, dtype=torch.float64)

    def _note(self, *kinds: str) -> None:
        self.counts.update(kinds)

    def _if(self, true: Any, kind: str) -> None:
        if true:
            self.counts[kind] += 1

    def live(self) -> None:
        """Do some things; every output is compared."""
        things = [self.step, self.step, self.step, self.step, self.append, self.rewind]
        things += [self.reset, self.reorder, self.state]
        for _ in range(12):
            things[self.rng.integers(len(things))]()
        self.check_counts()

    # What a schedule does.

    def tokens(self) -> tuple[list[int], int, list[list[Any]]]:
        """Draw how many tokens each row gets, how wide the chunk is, and the tokens."""
        width = int(self.rng.choice([1, 1, 1, 2, 5, 9, 14]))
        width = min(width, *(LONGEST - text[0].shape[1] for text in self.texts))
        lengths = [width] * self.batch
        if self.batch > 1 and self.rng.integers(2):
            lengths = [int(self.rng.integers(0, width + 1)) for _ in lengths]
        drawn = []
        for text, n in zip(self.texts, lengths, strict=True):
            q, k, v = (
                self.rng.standard_normal((h, n, HEAD_DIM)) for h in (HEADS, KV_HEADS, KV_HEADS)
            )
            if self.flat:
                q *= 0
                v = np.broadcast_to(np.eye(HEAD_DIM)[text[0].shape[1] :][:n], v.shape)
            drawn.append([q, k, v])
        self._if(width == 1, "one token")
        self._if(width > 1, "a chunk")
        self._if(width > self.window, "longer than the window")
        self._if(0 in lengths, "a length of 0")
        return lengths, width, drawn

    def feed(self, method: str) -> None:
        lengths, width, drawn = self.tokens()
        if not width:
            return
        before = [text[0].shape[1] for text in self.texts]
        for text, new in zip(self.texts, drawn, strict=True):
            text[:] = [np.concatenate(both, 1) for both in zip(text, new, strict=True)]
        self._grow()
        if self.kind == "numpy":
            given = drawn[0][method == "append" :]
            out = getattr(self.ring, method)(*given)
            outs = [out]
        else:
            outs = self.feed_torch(method, lengths, width, drawn)
        if method == "step":
            for row, first in enumerate(before):
                self.compare(row, first, outs[row])

    def feed_torch(self, method: str, lengths: list[int], width: int, drawn: Any) -> list[Any]:
        padding = ["left", "right"][self.rng.integers(2)]
        whole = all(n == width for n in lengths)
        self._if(not whole, "ragged")
        self._if(not whole, f"padded {padding}")
        spans = [slice(width - n, width) if padding == "left" else slice(0, n) for n in lengths]
        given = []
        for part in range(method == "append", 3):
            heads = drawn[0][part].shape[0]
            x = np.full(
                (self.batch, heads, width, HEAD_DIM), self.rng.choice([np.nan, 1e4, np.inf])
            )
            for row, span in enumerate(spans):
                x[row, :, span] = drawn[row][part]
            given.append(torch.from_numpy(x))
        more = {} if whole else {"lengths": lengths, "padding": padding}
        out = getattr(self.ring, method)(*given, **more)
        return [None if out is None else out[r, :, span].numpy() for r, span in enumerate(spans)]

    def step(self) -> None:
        self.feed("step")

    def append(self) -> None:
        self._note("append")
        self.feed("append")
        if all(text[0].shape[1] for text in self.texts):
            self.attend()

    def attend(self) -> None:
        q = np.stack([text[0][:, -1] for text in self.texts])
        if self.kind == "numpy":
            outs = self.ring.attend(q[0])[None]
        else:
            outs = self.ring.attend(torch.from_numpy(q)[:, :, None])[:, :, 0].numpy()
        for row, text in enumerate(self.texts):
            self.compare(row, text[0].shape[1] - 1, outs[row][:, None])

    def rewind(self) -> None:
        shortest = min(text[0].shape[1] for text in self.texts)
        n = (
            shortest
            if self.rng.integers(6) == 0
            else int(self.rng.integers(0, min(shortest, 6) + 1))
        )
        if not all(self.may_lose(row, n) for row in range(self.batch)):
            self._note("refusal")
            with pytest.raises(RewindError):
                self.ring.rewind(n)
            return
        self.ring.rewind(n)
        self._note("rewind")
        for row, text in enumerate(self.texts):
            text[:] = [x[:, : x.shape[1] - n] for x in text]
            if text[0].shape[1] <= self.sinks:  # nothing that is stored behind them counts
                self.longest[row] = text[0].shape[1]

    def may_lose(self, row: int, n: int) -> bool:
        """Say whether all that a shorter row needs behind its sinks was never overwritten."""
        length = self.texts[row][0].shape[1] - n
        first = max(self.sinks, length - self.window)
        return first >= length or first >= self.longest[row] - self.window - self.slack

    def _grow(self) -> None:
        self.longest = [
            max(longest, text[0].shape[1])
            for longest, text in zip(self.longest, self.texts, strict=True)
        ]

    def reset(self) -> None:
        if self.rng.integers(2):
            return
        rows = None
        if self.kind == "torch" and self.batch > 1:
            rows = [row for row in range(self.batch) if self.rng.integers(2)]
        self.ring.reset(*(() if rows is None else (rows,)))
        self._note("reset of all" if rows is None else "reset of some rows")
        for row in range(self.batch) if rows is None else rows:
            self.texts[row][:] = [x[:, :0] for x in self.texts[row]]
            self.longest[row] = 0

    def reorder(self) -> None:
        if self.kind == "torch" and self.batch > 1:
            rows = self.rng.integers(0, self.batch, self.batch).tolist()
            self.ring.reorder(rows)
            self.texts = [list(self.texts[row]) for row in rows]
            self.longest = [self.longest[row] for row in rows]
            self._note("reorder")

    def state(self) -> None:
        self.ring = type(self.ring).from_state_dict(self.ring.state_dict())
        self._note("state")

    # What must hold.

    def compare(self, row: int, first: int, out: Any) -> None:
        q, k, v = self.texts[row]
        if first >= q.shape[1]:
            return
        sizes = {"sinks": self.sinks, "base": self.base, "first": first}
        expected = oracle_summaries(q, k, v, self.window, self.how, **sizes)
        np.testing.assert_allclose(out, expected, atol=1e-9, rtol=1e-9)
        if self.flat:  # every position weighs the same: none twice, none missing
            for i, one in enumerate(np.swapaxes(out, 0, 1), start=first):
                np.testing.assert_allclose(one[:, : i + 1], 1 / (i + 1), rtol=1e-9)
                assert not one[:, i + 1 :].any()
        if self.window + self.sinks >= q.shape[1]:
            self._note("everything seen")
            exact = oracle_summaries(q, k, v, LONGEST, Fold(1, 1), first=first)
            np.testing.assert_allclose(out, exact, atol=1e-9, rtol=1e-9)

    def check_counts(self) -> None:
        counts = np.asarray(self.ring.counts).reshape(self.batch, -1)
        for row, text in enumerate(self.texts):
            n = text[0].shape[1]
            least = folded(n, self.window + self.slack, self.sinks)
            assert least <= counts[row].sum() <= folded(n, self.window, self.sinks)
            self._if(counts[row].max(initial=0) > self.how.block, "a merge")


def test_random_lives() -> None:
    counts: Counter[str] = Counter()
    for seed in range(SCHEDULES):
        try:
            Schedule(seed, counts).live()
        except BaseException:
            print(f"schedule {seed}")
            raise
    print(f"\n{SCHEDULES} schedules:", ", ".join(f"{k} {counts[k]}" for k in KINDS))
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= LEAST


@pytest.mark.parametrize("merge", ["oldest", "least"])
def test_memory_is_constant_and_means_stay_right(merge: str) -> None:
    """After 100,000 tokens in float32, each mean is what float64 makes of its members."""
    n = 100_000 if DEEP else 10_000
    rng = np.random.default_rng(1)
    k, v = rng.standard_normal((2, 1, n, 4)).astype(np.float32) + np.float32(3)
    ring = NumpySummaryRing(64, 1, 4, summaries=16, block=16, merge=merge, sinks=2)
    like = torch.zeros(1)
    other = TorchSummaryRing(64, 1, 1, 4, summaries=16, block=16, merge=merge, sinks=2)
    bytes_before = ring.nbytes, other.nbytes
    for at in range(0, n, 500):
        ring.append(k[:, at : at + 500], v[:, at : at + 500])
        some = (torch.from_numpy(x[None, :, at : at + 500]).to(like) for x in (k, v))
        other.append(*some)
    assert (ring.nbytes, other.nbytes) == bytes_before
    counts = ring.counts
    assert counts.sum() == n - 66
    assert other.counts[0].tolist() == counts.tolist()
    starts = 2 + np.concatenate([[0], np.cumsum(counts)])
    for slot, (a, b) in enumerate(itertools.pairwise(starts)):
        for bank, torch_bank, x in (
            (ring.summary_keys, other.summary_keys, k),
            (ring.summary_values, other.summary_values, v),
        ):
            right = x[0, a:b].astype(np.float64).mean(0)
            np.testing.assert_allclose(bank[0, slot], right, atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(torch_bank[0, 0, slot], right, atol=1e-5, rtol=1e-5)
