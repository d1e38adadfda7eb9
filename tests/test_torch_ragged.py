"""Random schedules of a batch beside its rows alone and beside the whole history.

The deep run, 2,000 schedules, with every kind counted and printed:

    RINGKV_DEEP=1 pytest tests/test_torch_ragged.py
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

import ringkv_edu.numpy_products as products
import ringkv_edu.torch_attention as kernels
import ringkv_edu.torch_host as host
import ringkv_edu.torch_ring as module
from ringkv_edu import RewindError, TorchRing, oracle_attention, slot_of

from .devices import needs_cuda

DEEP = "RINGKV_DEEP" in os.environ
SCHEDULES, LEAST = (2000, 400) if DEEP else (100, 5)
LONGEST = 40  # tokens of a row: the oracle's time grows with their square
HEAD_DIM = 8
ALONE, ORACLE = 1e-6, 2e-5
GARBAGE = (np.nan, 1e4, np.inf, -np.inf)
KINDS = (
    "append", "step", "chunk step", "attend", "one token, no mask", "one token, masked",
    "lengths as None", "lengths as list", "lengths as tensor", "a length of 0", "all lengths 0",
    "padded left", "padded right", "padding of nan", "padding of 10000.0", "padding of inf",
    "padding of -inf", "chunk longer than the ring", "wrap", "rewind by a number",
    "rewind by a tensor", "refusal of a number", "refusal of a tensor", "write after a rewind",
    "reset of all", "reset of some rows", "reorder", "reorder with repeats", "select",
    "stack", "state", "state with a device", "sinks", "slack", "query groups", "one thread",
    "two threads", "turns", "fused", "tiled", "read ahead", "across", "by keys", "embedding_bag",
    "a step on the host",
)  # fmt: skip


class Text:
    """What one row was given, and which of its positions must be held."""

    def __init__(self, kv_heads: int) -> None:
        self.k = self.v = np.zeros((kv_heads, 0, HEAD_DIM), np.float32)
        self.held = set[int]()

    @property
    def seen(self) -> int:
        return int(self.k.shape[1])

    def add(self, k: Any, v: Any, sinks: int, ring: int) -> None:
        new = set(range(self.seen, self.seen + k.shape[1]))
        self.k, self.v = np.concatenate([self.k, k], 1), np.concatenate([self.v, v], 1)
        self.held = {p for p in self.held | new if p < sinks or p >= self.seen - ring}

    def may_lose(self, n: int, window: int, sinks: int) -> bool:
        length = self.seen - n
        needed = {*range(min(sinks, length)), *range(max(0, length - window), length)}
        return length >= 0 and needed <= self.held

    def lose(self, n: int) -> None:
        self.k, self.v = (x[:, : self.seen - n] for x in (self.k, self.v))
        self.held = {p for p in self.held if p < self.seen}


class Schedule:
    """A batch, each of its rows in a ring of one row, and each row's text."""

    def __init__(self, seed: int, counts: Counter[str], device: str = "cpu") -> None:
        self.device, self.within = device, {"alone": ALONE, "oracle": ORACLE}
        self.rng, self.counts, self.worst = np.random.default_rng(seed), counts, Counter[str]()
        draw = self.rng.integers
        self.window, self.sinks, self.slack = (
            int(draw(*ends)) for ends in ((1, 9), (0, 4), (0, 5))
        )
        self.kv_heads, self.group = int(draw(1, 3)), int(draw(1, 4))
        counts["sinks"] += self.sinks > 0
        counts["slack"] += self.slack > 0
        counts["query groups"] += self.group > 1
        self.made = 0
        self.ring, self.alone, self.texts = self._fresh(int(draw(1, 5)))
        self.back = set[int]()

    def _fresh(self, batch: int) -> tuple[TorchRing, list[TorchRing], list[Text]]:
        sizes = (self.kv_heads, HEAD_DIM, self.sinks, self.slack, torch.float32, self.device, True)
        alone = [TorchRing(self.window, 1, *sizes) for _ in range(batch)]
        texts = [Text(self.kv_heads) for _ in range(batch)]
        return TorchRing(self.window, batch, *sizes), alone, texts

    # What can happen.

    def one(self) -> None:
        chances = {
            "write": 10, "rewind": 4, "reset": 1, "reorder": 1, "select": 1, "stack": 1, "state": 1,
        }  # fmt: skip
        names = list(chances)
        weights = np.array([chances[name] for name in names]) / sum(chances.values())
        getattr(self, str(self.rng.choice(names, p=weights)))()
        self.check()

    def write(self) -> None:
        n = int(self.rng.choice([1, self.rng.integers(1, 5), self.rng.integers(1, 20)]))
        if max(text.seen for text in self.texts) + n > LONGEST:
            self.reset(every_row=True)
        step = self.rng.random() < 0.7
        lengths = self._lengths(n)
        side = str(self.rng.choice(["left", "right"]))
        q, k, v, real = self._tokens(n, lengths, side)
        given = {} if lengths is None else {"lengths": self._as_given(lengths), "padding": side}
        self._count_write(n, lengths, side, step)
        arrays = [x.transpose(1, 2) for x in map(self._tensor, (q, k, v))]
        if step:
            out = self.ring.step(*arrays, **given)
        else:
            self.ring.append(*arrays[1:], **given)
        for row, text in enumerate(self.texts):
            mine = [x[row, real[row]].swapaxes(0, 1)[None] for x in (q, k, v)]
            if step:
                self._compare_row(row, out[row].cpu().numpy(), real[row], *mine)
            if real[row].any():
                if not step:
                    self.alone[row].append(*map(self._tensor, mine[1:]))
                text.add(mine[1][0], mine[2][0], self.sinks, self.window + self.slack)

    def _lengths(self, n: int) -> Any:
        rows = len(self.texts)
        if self.rng.random() < 0.3:
            return None
        if self.rng.random() < 0.1:
            return np.zeros(rows, np.int64)
        return self.rng.integers(0, n + 1, rows) * (self.rng.random(rows) < 0.8)

    def _tokens(self, n: int, lengths: Any, side: str) -> tuple[Any, Any, Any, Any]:
        """Draw (batch, n, heads, head_dim): the ring gets them turned round, not contiguous."""
        rows, filling = len(self.texts), self.rng.choice(GARBAGE)
        real = np.ones((rows, n), bool)
        if lengths is not None:
            places = np.arange(n) if side == "right" else np.arange(n)[::-1]
            real = places < lengths[:, None]
            if not real.all():
                self.counts[f"padded {side}"] += 1
                self.counts[f"padding of {filling}"] += 1
        heads = (self.kv_heads * self.group, self.kv_heads, self.kv_heads)
        q, k, v = (self.rng.normal(size=(rows, n, h, HEAD_DIM)).astype(np.float32) for h in heads)
        v = np.clip(v, -1, 1)  # outputs up to 1: differences are absolute and relative ones
        for x in (q, k, v):
            x[~real] = filling
        return q, k, v, real

    def _as_given(self, lengths: Any) -> Any:
        form = self.rng.choice(["list", "tensor"])
        self.counts[f"lengths as {form}"] += 1
        if form == "list":
            return lengths.tolist()
        kinds = (torch.int64, torch.int32, torch.uint8)
        there = "cpu" if self.rng.random() < 0.5 else self.device
        return torch.tensor(lengths, dtype=kinds[self.rng.integers(3)], device=there)

    def _count_write(self, n: int, lengths: Any, side: str, step: bool) -> None:
        ring, counts = self.window + self.slack, self.counts
        counts["step" if step else "append"] += 1
        counts["chunk step"] += step and n > 1
        counts["lengths as None"] += lengths is None
        counts["a length of 0"] += lengths is not None and (lengths == 0).any()
        counts["all lengths 0"] += lengths is not None and not lengths.any()
        counts["chunk longer than the ring"] += n > ring
        counts["write after a rewind"] += bool(self.back)
        self.back = set()
        slots = self.sinks + ring
        counts["wrap"] += any(t.seen < slots <= t.seen + n for t in self.texts)

    def rewind(self) -> None:
        rows = len(self.texts)
        short = min(text.seen for text in self.texts)
        if self.rng.random() < 0.5:
            ns = [int(self.rng.choice([self.rng.integers(0, 4), short]))] * rows
            given, form = ns[0], "number"
        else:
            ns = [int(self.rng.integers(0, min(4, t.seen) + 1)) for t in self.texts]
            if self.rng.random() < 0.15:
                ns = [text.seen for text in self.texts]
            given, form = torch.tensor(ns, dtype=torch.int64), "tensor"
        allowed = [text.may_lose(n, self.window, self.sinks) for text, n in zip(self.texts, ns)]
        if not all(allowed):
            self.counts[f"refusal of a {form}"] += 1
            before = self._all()
            first = allowed.index(False)
            words = rf"^row {first}: rewind\({ns[first]}\)" if rows > 1 else r"^rewind"
            with pytest.raises(RewindError, match=words):
                self.ring.rewind(given)
            assert all(torch.equal(a, b) for a, b in zip(before, self._all()))
            return
        self.counts[f"rewind by a {form}"] += 1
        self.ring.rewind(given)
        for row, (text, n) in enumerate(zip(self.texts, ns)):
            self.alone[row].rewind(n)
            text.lose(n)
            self.back |= {row} if n else set()

    def reset(self, every_row: bool = False) -> None:
        rows = len(self.texts)
        if every_row or self.rng.random() < 0.3:
            self.counts["reset of all"] += 1
            self.ring.reset()
            chosen = list(range(rows))
        else:
            self.counts["reset of some rows"] += 1
            chosen = self.rng.choice(rows, self.rng.integers(1, rows + 1)).tolist()
            self.ring.reset(self._rows(chosen))
        for row in chosen:
            self.alone[row].reset()
            self.texts[row] = Text(self.kv_heads)

    def reorder(self) -> None:
        rows = len(self.texts)
        chosen = self.rng.integers(0, rows, rows).tolist()
        self.counts["reorder"] += 1
        self.counts["reorder with repeats"] += len(set(chosen)) < rows
        self.ring.reorder(self._rows(chosen))
        self._take(chosen)

    def select(self) -> None:
        self.counts["select"] += 1
        chosen = self.rng.integers(0, len(self.texts), self.rng.integers(1, 5)).tolist()
        old = self.ring
        self.ring = old.select(self._rows(chosen))
        self._take(chosen)
        old.reset()  # the copy must not notice

    def stack(self) -> None:
        if len(self.texts) == 4:
            return self.select()
        self.counts["stack"] += 1
        other, alone, texts = self._fresh(int(self.rng.integers(1, 5 - len(self.texts))))
        n = int(self.rng.integers(0, 12))
        if n:
            _, k, v, _ = self._tokens_for(texts, n)
            other.append(self._tensor(k), self._tensor(v))
            for row, text in enumerate(texts):
                text.add(k[row], v[row], self.sinks, self.window + self.slack)
                alone[row].append(self._tensor(k[[row]]), self._tensor(v[[row]]))
        first = self.rng.random() < 0.5
        parts = [other, self.ring] if first else [self.ring, other]
        self.ring = TorchRing.stack(parts)
        self.alone = alone + self.alone if first else self.alone + alone
        self.texts = texts + self.texts if first else self.texts + texts
        for part in parts:
            part.reset()

    def _tokens_for(self, texts: list[Text], n: int) -> Any:
        shape = (len(texts), self.kv_heads, n, HEAD_DIM)
        k, v = (np.clip(self.rng.normal(size=shape), -1, 1).astype(np.float32) for _ in range(2))
        return None, k, v, None

    def state(self) -> None:
        state = self.ring.state_dict()
        if self.rng.random() < 0.5:
            self.counts["state with a device"] += 1
            self.ring = TorchRing.from_state_dict(state, device=self.device)
        else:
            self.counts["state"] += 1
            self.ring = TorchRing.from_state_dict(state)
        self.ring.check = True
        for name in ("keys", "values", "positions", "seen"):
            state[name].fill_(77)

    def _tensor(self, x: Any) -> Any:
        return torch.from_numpy(x).to(self.device)

    def _rows(self, chosen: list[int]) -> Any:
        return torch.tensor(chosen) if self.rng.random() < 0.5 else chosen

    def _take(self, chosen: list[int]) -> None:
        self.alone = [copy.deepcopy(self.alone[row]) for row in chosen]
        self.texts = [copy.copy(self.texts[row]) for row in chosen]

    def _all(self) -> list[Any]:
        ring = self.ring
        return [x.clone() for x in (ring.keys, ring.values, ring.positions, ring.seen)]

    # What must be so, whatever happened.

    def check(self) -> None:
        ring = self.window + self.slack
        self.counts["operations"] += 1
        for row, (text, alone) in enumerate(zip(self.texts, self.alone)):
            expected = [-1] * self.ring.slots
            for p in text.held:
                expected[slot_of(p, ring, self.sinks)] = p
            assert self.ring.positions[row].tolist() == expected
            assert alone.positions[0].tolist() == expected
            assert self.ring.seen[row].item() == alone.seen.item() == text.seen
            assert self.ring.size[row].item() == alone.size.item() == len(text.held)
            for stored, given in ((self.ring.keys, text.k), (self.ring.values, text.v)):
                right = (
                    given[:, expected] if text.seen else np.zeros_like(stored[row].cpu().numpy())
                )
                right = np.where(np.array(expected)[:, None] >= 0, right, 0)
                assert np.array_equal(stored[row].cpu().numpy(), right)
        self.attend()

    def attend(self) -> None:
        self.counts["attend"] += 1
        heads = self.kv_heads * self.group
        q = self.rng.normal(size=(len(self.texts), heads, 1, HEAD_DIM)).astype(np.float32)
        out = self.ring.attend(self._tensor(q))
        for row, text in enumerate(self.texts):
            mine = out[row].cpu().numpy()
            if not text.seen:
                assert not mine.any()
                assert not self.alone[row].attend(self._tensor(q[[row]])).any()
                continue
            alone = self.alone[row].attend(self._tensor(q[[row]]))[0].cpu().numpy()
            self._close("alone", mine, alone)
            self._close("oracle", mine, self._oracle(text, q[row], text.k, text.v))

    def _compare_row(self, row: int, out: Any, real: Any, q: Any, k: Any, v: Any) -> None:
        assert not out[:, ~real].any()  # padding gives zeros
        if not real.any():
            return
        text, out = self.texts[row], out[:, real]
        alone = self.alone[row].step(*map(self._tensor, (q, k, v)))[0].cpu().numpy()
        self._close("alone", out, alone)
        keys, values = np.concatenate([text.k, k[0]], 1), np.concatenate([text.v, v[0]], 1)
        self._close("oracle", out, self._oracle(text, q[0], keys, values))

    def _oracle(self, text: Text, q: Any, k: Any, v: Any) -> Any:
        first = k.shape[1] - q.shape[1]
        queries = np.concatenate([np.zeros((q.shape[0], first, HEAD_DIM), np.float32), q], 1)
        return oracle_attention(queries, k, v, self.window, self.sinks, first=first)

    def _close(self, name: str, out: Any, expected: Any) -> None:
        assert out.shape == expected.shape
        apart = np.abs(out - expected)
        assert np.isfinite(apart).all()
        self.worst[name] = max(self.worst[name], float(apart.max()))
        assert self.worst[name] <= self.within[name]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Note which way every product went."""
    counts: Counter[str] = Counter()

    def note(owner: Any, name: str, kind: Any) -> None:
        own = getattr(owner, name)

        def noted(*args: Any, **named: Any) -> Any:
            counts[kind(*args) if callable(kind) else kind] += 1
            return own(*args, **named)

        monkeypatch.setattr(owner, name, noted)

    def way(q: Any, keys: Any, values: Any, mask: Any, scale: Any) -> str:
        return "one token, no mask" if mask is None else "one token, masked"

    note(module, "one_query", way)
    for name in ("fused", "tiled", "read_ahead", "across", "by_keys"):
        note(kernels, f"_{name}", name.replace("_", " "))
    note(kernels, "Turns", "turns")
    note(kernels.functional, "embedding_bag", "embedding_bag")
    note(host.HostStep, "_step", "a step on the host")
    monkeypatch.setattr(kernels, "_TURNS", {})
    return counts


@pytest.fixture
def threads() -> Any:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def test_each_row_of_a_batch_gets_what_it_gets_alone(counted, threads, monkeypatch, capsys) -> None:
    worst: Counter[str] = Counter()
    for seed in range(SCHEDULES):
        rng = np.random.default_rng([seed, 1])
        monkeypatch.setattr(kernels, "SMALL", int(rng.choice([0, 2**23])))
        monkeypatch.setattr(kernels, "LEAST", int(rng.choice([0, 1024, 2**20])))
        monkeypatch.setattr(products, "TILE", int(rng.choice([2, 3, 256])))
        several = int(rng.integers(1, 3))
        threads(several)
        counted["two threads" if several == 2 else "one thread"] += 1
        schedule = Schedule(seed, counted)
        try:
            for _ in range(int(rng.integers(8, 16))):
                schedule.one()
        except BaseException:
            print(f"schedule {seed}")  # shown by pytest with the failure
            raise
        worst |= schedule.worst
    if DEEP:
        with capsys.disabled():
            print(
                f"\n{SCHEDULES} schedules, {counted['operations']} operations; largest difference"
            )
            print(f"to a row alone {worst['alone']:.2g}, to the oracle {worst['oracle']:.2g}")
            print("\n".join(f"{counted[kind]:6} {kind}" for kind in KINDS))
    assert {kind for kind in KINDS if counted[kind] < LEAST} == set()
    assert counted["operations"] >= 8 * SCHEDULES


@needs_cuda
def test_each_row_of_a_batch_on_cuda() -> None:
    """Its products round otherwise than the CPU's, and otherwise for other sizes."""
    counts: Counter[str] = Counter()
    for seed in range(60):
        schedule = Schedule(seed, counts, "cuda")
        schedule.within = {"alone": ORACLE, "oracle": ORACLE}
        for _ in range(10):
            schedule.one()


def dense(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    """Give the same attention in float64, head by head."""
    q, k, v = (x.to(torch.float64) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = (q @ k.mT * scale).masked_fill(~mask[:, None, None], -torch.inf)
    return torch.softmax(scores, -1) @ v


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("several", [1, 2])
@pytest.mark.parametrize(
    "way", ["chosen", "turns", "hidden", "_fused", "_tiled", "_read_ahead", "_across", "_by_keys"]
)
@pytest.mark.parametrize("group", [1, 3])
def test_every_product_is_the_same_attention(
    dtype, several, way, group, threads, monkeypatch
) -> None:
    """Whole rings and their first slots, with a mask and without, more and fewer than a tile."""
    threads(several)
    monkeypatch.setattr(kernels, "SMALL", 0 if way == "hidden" else 2**23)
    monkeypatch.setattr(kernels, "LEAST", 0 if way == "turns" else 2**20)
    if way == "hidden":
        monkeypatch.setattr(kernels, "hidden", lambda x: True)
    if way[0] == "_":
        monkeypatch.setattr(kernels, "way_of", lambda *asked: getattr(kernels, way))
    monkeypatch.setattr(products, "TILE", 4)
    made = torch.Generator().manual_seed(0)
    within = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-6, torch.float64: 1e-14}
    for m in (1, 3, 4, 5, 8, 11):
        shape = (2, 2, 12, HEAD_DIM)
        k, v = (torch.randn(shape, generator=made, dtype=torch.float64).to(dtype) for _ in range(2))
        q = torch.randn(2, 2 * group, 1, HEAD_DIM, generator=made, dtype=torch.float64).to(dtype)
        mask = torch.rand(2, m, generator=made) < 0.6
        mask[:, m // 2] = True
        for whole in (False, True):
            keys, values = (x[:, :, :m].contiguous() if whole else x[:, :, :m] for x in (k, v))
            for seen in (None, mask):
                out = kernels.one_query(q, keys, values, seen, 0.3)
                every = torch.ones_like(mask) if seen is None else seen
                assert out.dtype == dtype
                assert (out - dense(q, keys, values, every, 0.3)).abs().max() < within[dtype]
