"""Rings of other classes inside a language model, right and wrong ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from ringkv_edu import NumpyRing, TorchRing
from ringkv_edu.adapters import ring_cache
from ringkv_edu.given_numpy import RingArrays

from . import hf_models as models
from .hf_models import ROW_CALLS, WINDOW, gap, left_padded, streamed, text, uncached

Tensor = torch.Tensor
SCALE = 1e-6
CHUNKS = [40, *[1] * 40, 7, 33, *[1] * 8]


class LessonRing(RingArrays):
    """The class that lesson 02 makes of the learner's `write`."""

    def append(self, k: Any, v: Any) -> None:
        for token in range(k.shape[1]):
            slot = self.slot(self.seen)
            self.keys[:, slot], self.values[:, slot] = k[:, token], v[:, token]
            self.positions[slot] = self.seen
            self.seen += 1

    def slot(self, position: int) -> int:
        return position % self.window


class TorchOne:
    """The least a learner writes in torch, for one sequence."""

    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        self.window, self.seen = window, 0
        self.keys = torch.zeros(kv_heads, window, head_dim)
        self.values = torch.zeros(kv_heads, window, head_dim)
        self.positions = torch.full((window,), -1)

    def append(self, k: Tensor, v: Tensor) -> None:
        for t in range(k.shape[1]):
            slot = self.seen % self.window
            self.keys[:, slot], self.values[:, slot] = k[:, t], v[:, t]
            self.positions[slot] = self.seen
            self.seen += 1


class TorchBatch:
    """The same for a batch of rows of one length, positions shared by all."""

    def __init__(
        self, window: int, batch: int, kv_heads: int, head_dim: int, dtype: Any, device: Any
    ) -> None:
        self.window, self.seen = window, 0
        self.keys = torch.zeros(batch, kv_heads, window, head_dim, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.positions = torch.full((window,), -1, device=device)

    def append(self, k: Tensor, v: Tensor) -> None:
        for t in range(k.shape[2]):
            self.keys[:, :, self.seen % self.window] = k[:, :, t]
            self.values[:, :, self.seen % self.window] = v[:, :, t]
            self.positions[self.seen % self.window] = self.seen
            self.seen += 1


class Growing:
    """No ring: the last window tokens in their order, in new arrays each time."""

    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        self.window, self.seen = window, 0
        self.keys = self.values = np.zeros((kv_heads, 0, head_dim), np.float32)

    @property
    def positions(self) -> list[int]:
        return list(range(self.seen - self.keys.shape[1], self.seen))

    def append(self, k: Any, v: Any) -> None:
        self.keys = np.concatenate([self.keys, k], axis=1)[:, -self.window :]
        self.values = np.concatenate([self.values, v], axis=1)[:, -self.window :]
        self.seen += k.shape[1]


class LikeTorchRing:
    """A batch of ragged rows that is no TorchRing: one inside another class."""

    def __init__(self, window: int, batch: int, kv_heads: int, head_dim: int) -> None:
        self.inner = TorchRing(window, batch, kv_heads, head_dim)

    def append(self, k: Tensor, v: Tensor, lengths: Any = None) -> None:
        self.inner.append(k, v, lengths)

    def reorder(self, rows: Tensor) -> None:
        self.inner.reorder(rows)

    @property
    def keys(self) -> Tensor:
        return self.inner.keys

    @property
    def values(self) -> Tensor:
        return self.inner.values

    @property
    def positions(self) -> Tensor:
        return self.inner.positions


RAGGED = [NumpyRing, LessonRing, TorchOne, Growing, LikeTorchRing, partial(TorchRing, slack=3)]


def name(make: Any) -> str:
    return getattr(make, "__name__", "partial")


@pytest.mark.parametrize("make", [*RAGGED, TorchBatch], ids=name)
def test_a_right_ring_gives_what_a_window_mask_gives(make: Any) -> None:
    model = models.llama()
    pads = (0, 0) if make is TorchBatch else (0, 7)
    tokens, real = left_padded(text(2, sum(CHUNKS)), pads)
    wanted = uncached(model, tokens, real, WINDOW)
    cache = ring_cache(model, WINDOW, make=make)
    assert gap(streamed(model, cache, tokens, real, CHUNKS), wanted, real) <= SCALE
    cache.reset()
    assert gap(streamed(model, cache, tokens, real, CHUNKS), wanted, real) <= SCALE
    alone = ring_cache(model, WINDOW, make=make)
    ours = streamed(model, alone, tokens[:1], None, CHUNKS)
    assert gap(ours, wanted[:1]) <= SCALE


@pytest.mark.parametrize("make", [NumpyRing, partial(NumpyRing, slack=5)], ids=["even", "slack"])
def test_sinks_and_slack_in_numpy(make: Any) -> None:
    model = models.llama()
    tokens, real = left_padded(text(2, sum(CHUNKS)), (0, 7))
    cache = ring_cache(model, WINDOW, sinks=3, make=make)
    ours = streamed(model, cache, tokens, real, CHUNKS)
    assert gap(ours, uncached(model, tokens, real, WINDOW, 3), real) <= SCALE
    assert all(isinstance(ring, NumpyRing) for rows in cache.rings for ring in rows)


@pytest.mark.parametrize("make", [NumpyRing, LessonRing, TorchOne, LikeTorchRing], ids=name)
@pytest.mark.parametrize("beams", [1, 3])
def test_generate_with_a_learners_ring(make: Any, beams: int) -> None:
    model = models.mistral()
    tokens, real = left_padded(text(2, 20), (0, 7))
    more = {"max_new_tokens": 40, "do_sample": False, "num_beams": beams, "attention_mask": real}
    theirs = model.generate(tokens, **more)
    assert torch.equal(model.generate(tokens, cache=ring_cache(model, make=make), **more), theirs)


def test_a_numpy_ring_takes_back_and_full_layers_go_on_beside_it() -> None:
    model = models.llama()
    tokens, real = left_padded(text(2, 60), (0, 7))
    cache = ring_cache(model, WINDOW, make=NumpyRing, slack=4, layers=models.MIXED)
    plain = ring_cache(model, WINDOW, slack=4, layers=models.MIXED)
    for each in (cache, plain):
        streamed(model, each, tokens[:, :44], real[:, :44], [40, 4])
        each.crop(-4)
    more = {"attention_mask": real[:, :41], "position_ids": models.position_ids(real)[:, 40:41]}
    with torch.no_grad():
        a, b = (model(tokens[:, 40:41], cache=c, **more).logits for c in (cache, plain))
    assert gap(a, b) <= SCALE
    assert cache.rings[0] is None


@pytest.mark.parametrize("make", [NumpyRing, partial(TorchRing, slack=2)], ids=name)
def test_rows_move_with_all_that_belongs_to_them(make: Any) -> None:
    model = models.llama()
    tokens, real = left_padded(text(2, 50), (0, 7))
    wanted = uncached(model, tokens, real, WINDOW)
    for call, rows in ROW_CALLS:
        cache = ring_cache(model, WINDOW, make=make)
        streamed(model, cache, tokens[:, :40], real[:, :40], [39, 1])
        call(cache)
        with torch.no_grad():
            where = models.position_ids(real)[rows, 40:]
            more = {"attention_mask": real[rows], "position_ids": where}
            ours = model(tokens[rows, 40:], cache=cache, **more).logits
        assert gap(ours, wanted[rows, 40:]) <= SCALE


# Nothing is repaired.


class OneShort(LessonRing):
    """Keeps window - 1 tokens."""

    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        super().__init__(window - 1, kv_heads, head_dim)


class OneLong(LessonRing):
    """Keeps window + 1 tokens."""

    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        super().__init__(window + 1, kv_heads, head_dim)


class WrongSlot(LessonRing):
    """Writes over the newest but one once it is full."""

    def slot(self, position: int) -> int:
        return position if position < self.window else self.window - 1


class NoValues(LessonRing):
    """Forgets to store the values."""

    def append(self, k: Any, v: Any) -> None:
        super().append(k, v * 0)


class EmptySeen(LessonRing):
    """Says that its empty slots hold token 0."""

    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        super().__init__(window, kv_heads, head_dim)
        self.positions[:] = 0


class Unmarked(LessonRing):
    """Forgets the positions."""

    def append(self, k: Any, v: Any) -> None:
        super().append(k, v)
        self.positions[:] = -1


class NotReset(LessonRing):
    """Keeps its arrays at a reset."""

    def reset(self) -> None:
        self.seen = 0


class Leaking(TorchBatch):
    """Writes every row's token into row 0 as well."""

    def append(self, k: Tensor, v: Tensor) -> None:
        super().append(k, v)
        self.keys[0], self.values[0] = self.keys[-1], self.values[-1]


WRONG = [OneShort, OneLong, WrongSlot, NoValues, EmptySeen, Unmarked, Leaking]
FIRST = {OneShort: 31, OneLong: 32, WrongSlot: 32, EmptySeen: 0}  # tokens before the mistake


@pytest.mark.parametrize("make", WRONG, ids=name)
def test_a_wrong_ring_gives_wrong_logits(make: Any) -> None:
    model = models.llama()
    tokens, real = left_padded(text(2, 56), (0, 0))
    wanted = uncached(model, tokens, real, WINDOW)
    ours = streamed(model, ring_cache(model, WINDOW, make=make), tokens, real, [16] + [1] * 40)
    assert not gap(ours, wanted) <= 1e-3  # or not a number at all
    right = FIRST.get(make, 16)
    assert right == 0 or gap(ours[:, :right], wanted[:, :right]) <= SCALE


def test_a_wrong_ring_gives_other_tokens() -> None:
    model = models.mistral()
    more = {"max_new_tokens": 60, "do_sample": False}
    right = model.generate(text(1, 40), **more)
    for make in (OneShort, OneLong, NoValues):
        assert not torch.equal(
            model.generate(text(1, 40), cache=ring_cache(model, make=make), **more), right
        )


def test_a_wrong_reset_shows_in_the_next_text() -> None:
    model = models.llama()
    cache = ring_cache(model, WINDOW, make=NotReset)
    streamed(model, cache, text(1, 40), None, [40])
    cache.reset()
    tokens = text(1, 8, seed=1)
    ours = streamed(model, cache, tokens, None, [1] * 8)
    assert gap(ours, uncached(model, tokens, torch.ones_like(tokens), WINDOW)) > 1e-3


# What a class lacks is named.


def forward(make: Any, batch: int = 1, pads: tuple[int, ...] = (0,), **more: Any) -> None:
    tokens, real = left_padded(text(len(pads), 6), pads)
    streamed(models.llama(), ring_cache(models.llama(), 4, make=make, **more), tokens, real, [6])


class Bare:
    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        self.sizes = kv_heads, window, head_dim


class Method(TorchOne):
    def positions(self) -> Any:  # type: ignore[override]
        return None

    def __init__(self, **sizes: int) -> None: ...


def test_what_is_missing_is_named() -> None:
    with pytest.raises(TypeError, match="make is a NumpyRing; give a class or a function"):
        forward(NumpyRing(4, 2, 8))
    with pytest.raises(TypeError, match="dict does not take window, kv_heads, head_dim by name"):
        forward(dict)
    with pytest.raises(TypeError, match="TorchOne does not take sinks by name"):
        forward(TorchOne, sinks=2)
    with pytest.raises(TypeError, match=r"<lambda> does not take slack by name"):
        forward(lambda window, kv_heads, head_dim: None, slack=2)
    with pytest.raises(TypeError, match=r"Bare lacks append\(k, v\), keys, values, positions"):
        forward(Bare)
    one = TorchOne(4, 2, 8)
    with pytest.raises(ValueError, match="make gave the same ring twice"):
        forward(lambda window, kv_heads, head_dim: one)
    with pytest.raises(TypeError, match=r"NoneType lacks append"):
        forward(lambda window, kv_heads, head_dim: None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": torch.zeros(2, 8, 4)}, r"keys of TorchOne have shape \(2, 8, 4\); give \(2, slots, 8\)"),
        ({"values": torch.zeros(2, 5, 8)}, r"values have shape \(2, 5, 8\), keys \(2, 4, 8\)"),
        ({"positions": torch.zeros(4)}, r"positions are torch.float32 \(4,\); give whole numbers \(4,\)"),
        ({"positions": torch.zeros(5).long()}, r"positions are torch.int64 \(5,\)"),
    ],
)  # fmt: skip
def test_what_has_the_wrong_shape_is_named(change: dict[str, Any], message: str) -> None:
    def make(window: int, kv_heads: int, head_dim: int) -> Any:
        ring = TorchOne(window, kv_heads, head_dim)
        for part, value in change.items():
            setattr(ring, part, value)
        return ring

    with pytest.raises(ValueError, match=message):
        forward(make)


def test_a_batch_ring_says_what_it_cannot() -> None:
    with pytest.raises(ValueError, match="append of TorchBatch takes no `lengths`"):
        forward(TorchBatch, pads=(0, 2))
    cache = ring_cache(models.llama(), 4, make=TorchBatch)
    streamed(models.llama(), cache, text(2, 6), None, [6])
    for call, needed in (
        (lambda: cache.reorder_cache(torch.tensor([1, 0])), "beam search needs TorchBatch.reorder"),
        (lambda: cache.batch_repeat_interleave(2), "another number of rows needs TorchBatch.sele"),
        (lambda: cache.crop(-1), "taking tokens back needs TorchBatch.rewind"),
    ):
        with pytest.raises(TypeError, match=needed):
            call()


def test_numbers_are_kept_exactly_or_refused() -> None:
    tokens, real = left_padded(text(2, 50), (0, 7))
    half = models.of(models.LlamaForCausalLM, models.LlamaConfig(**models.SIZES)).bfloat16()
    wanted = streamed(half, ring_cache(half, WINDOW), tokens, real, [40] + [1] * 10)
    for make in (NumpyRing, LessonRing, TorchOne):  # float32 and float64 hold bfloat16
        cache = ring_cache(half, WINDOW, make=make)
        ours = streamed(half, cache, tokens, real, [40] + [1] * 10)
        assert ours.dtype == torch.bfloat16
        assert gap(ours.float(), wanted.float(), real) <= 0.02
    double = models.of(models.LlamaForCausalLM, models.LlamaConfig(**models.SIZES)).double()
    for make in (NumpyRing, TorchOne):
        with pytest.raises(
            TypeError, match=r"stores torch.float32 and the model computes in torch"
        ):
            streamed(double, ring_cache(double, WINDOW, make=make), tokens, real, [40])
    exact = partial(NumpyRing, dtype=np.float64)
    ours = streamed(double, ring_cache(double, WINDOW, make=exact), tokens, real, [40] + [1] * 10)
    assert gap(ours, uncached(double, tokens, real, WINDOW), real) <= 1e-14
