"""TorchRing: what it promises beyond the cases, the random lives and the random schedules."""

from __future__ import annotations

import ast
import copy
import inspect
import io
import pickle
from multiprocessing.reduction import ForkingPickler
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch

import ringkv_edu.torch_chunk as chunks
from ringkv_edu import NumpyRing, RewindError, TorchRing, oracle_attention, slot_of

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def tokens(
    n: int, heads: int = 1, seed: int = 0, dtype: Any = torch.float32, batch: int = 2, d: int = 4
) -> Any:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(batch, heads, n, d, generator=made, dtype=torch.float64).to(dtype)


def ring_after(n: int, **sizes: Any) -> TorchRing:
    ring = TorchRing(**{"window": 4, "batch": 2, "kv_heads": 1, "head_dim": 4} | sizes)
    if n:
        batch, heads, _, d = ring.keys.shape
        k = tokens(n, heads, dtype=ring.keys.dtype, batch=batch, d=d)
        ring.append(k, 2 * k)
    return ring


def tensors(ring: TorchRing) -> list[Any]:
    return [ring.keys, ring.values, ring.positions, ring._seen]


def snapshot(ring: TorchRing) -> list[Any]:
    return [x.clone() for x in tensors(ring)]


def alike(one: Any, other: Any) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def right(q: Any, k: Any, v: Any, *sizes: Any, **named: Any) -> Any:
    """Give the oracle's outputs, row for row."""
    given = [x.to(torch.float64).numpy() for x in (q, k, v)]
    return torch.from_numpy(
        np.stack([oracle_attention(*row, *sizes, **named) for row in zip(*given)])
    )


def test_the_worked_example() -> None:
    ring = ring_after(8)
    ring.append(tokens(2), tokens(2), lengths=[2, 0])
    assert ring.positions.tolist() == [[8, 9, 6, 7], [4, 5, 6, 7]]
    assert ring_after(3, batch=1).positions.tolist() == [[0, 1, 2, -1]]
    ring = ring_after(9, batch=1, sinks=2, slack=1)
    assert ring.positions.tolist() == [[0, 1, 7, 8, 4, 5, 6]]


def test_counters() -> None:
    ring = ring_after(10, sinks=1, slack=2)
    assert (ring.window, ring.sinks, ring.slack, ring.slots) == (4, 1, 2, 7)
    ring.rewind(torch.tensor([2, 0]))
    assert (ring.seen.tolist(), ring.size.tolist()) == ([8, 10], [5, 7])
    ring.reset(rows=1)
    assert (ring.seen.tolist(), ring.size.tolist()) == ([8, 0], [5, 0])
    assert ring.seen.dtype == ring.size.dtype == ring.positions.dtype == torch.int64
    ring.seen.fill_(99)  # a copy: the ring does not notice
    assert ring.seen.tolist() == [8, 0]
    assert "window=4, batch=2, kv_heads=1, head_dim=4, sinks=1, slack=2" in repr(ring)


@pytest.mark.parametrize(
    "sizes", [{"window": 1}, {"window": 4}, {"window": 3, "sinks": 2, "slack": 3}]
)
def test_every_position_lies_in_its_slot(sizes: dict[str, int]) -> None:
    ring = ring_after(0, **sizes)
    for n, lengths in ((1, None), (1, [0, 1]), (5, [5, 2]), (2, None), (17, [3, 16]), (1, None)):
        ring.append(tokens(n), tokens(n), lengths)
        for row in ring.positions.tolist():
            for slot, p in enumerate(row):
                assert p < 0 or slot_of(p, ring.window + ring.slack, ring.sinks) == slot


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_storage_is_made_once(dtype: Any) -> None:
    for window in (1, 5):
        ring = ring_after(0, window=window, kv_heads=2, sinks=1, slack=1, dtype=dtype)
        slots = window + 2
        assert ring.nbytes == 2 * 2 * 2 * slots * 4 * dtype.itemsize
        assert ring.keys.data_ptr() != ring.values.data_ptr()
        before, pointers = tensors(ring), [x.data_ptr() for x in tensors(ring)]
        for n in (1, 1, 9, 3):
            ring.step(
                tokens(n, 4, dtype=dtype), *[tokens(n, 2, dtype=dtype)] * 2, lengths=[n, n - 1]
            )
        ring.rewind(1)
        ring.reorder([1, 1])
        ring.reset([0])
        ring.reset()
        assert all(a is b for a, b in zip(before, tensors(ring)))
        assert pointers == [x.data_ptr() for x in tensors(ring)]


def test_a_long_prefill_attends_in_blocks() -> None:
    """Also behind a prefix, with sinks among the chunk, and over more than one block."""
    n = 3 * chunks.BLOCK + 5
    q, k, v = tokens(n, 4, 1), tokens(n, 2, 2), tokens(n, 2, 3)
    for window, sinks, first in ((7, 2, 0), (200, 0, 3), (150, 3, 1), (3, 5, 2)):
        ring = TorchRing(window, 2, 2, 4, sinks)
        expected, out = right(q, k, v, window, sinks), []
        for part in (slice(0, first), slice(first, n)):
            if part.start < part.stop:
                out.append(ring.step(*(x[:, :, part] for x in (q, k, v))))
        assert (torch.cat(out, 2) - expected).abs().max() < 2e-5


@pytest.mark.parametrize(
    ("dtype", "within"),
    [(torch.float16, 3e-3), (torch.bfloat16, 3e-2), (torch.float32, 2e-6), (torch.float64, 1e-14)],
)
def test_dtypes(dtype: Any, within: float) -> None:
    q, k, v = (tokens(12, heads, seed, dtype) for heads, seed in ((2, 1), (1, 2), (1, 3)))
    ring = TorchRing(4, 2, 1, 4, dtype=dtype)
    out = [ring.step(*(x[:, :, :7] for x in (q, k, v)))]
    out += [ring.step(*(x[:, :, [t]] for x in (q, k, v))) for t in range(7, 12)]
    assert {x.dtype for x in out} == {ring.keys.dtype, ring.values.dtype} == {dtype}
    assert (torch.cat(out, 2) - right(q, k, v, 4)).abs().max() < within
    assert ring.attend(q[:, :, -1:]).dtype == dtype


def test_the_default_dtype_is_that_of_torch() -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert ring_after(0).keys.dtype == torch.float64
    finally:
        torch.set_default_dtype(before)
    assert ring_after(0).keys.dtype == before


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_default_device_may_be_another(dtype: Any) -> None:
    """Everything made on the way lies beside the ring, not where torch would put it."""
    q, k, v = (tokens(9, 1, seed, dtype) for seed in (1, 2, 3))
    ring, expected = TorchRing(3, 2, 1, 4, 1, dtype=dtype, device="cpu"), right(q, k, v, 3, 1)
    with torch.device("meta"):
        assert TorchRing(3, 2, 1, 4).keys.is_meta
        for t in range(9):
            out = ring.step(q[:, :, [t]], k[:, :, [t]], v[:, :, [t]], lengths=[1, 1])
            assert (out - expected[:, :, [t]]).abs().max() < 2e-6
        ring.rewind(0)
        ring.reorder([1, 0])
        again = TorchRing.from_state_dict(ring.state_dict())
        ring.reset([0])
        assert ring.step(q, k, v, lengths=[2, 3], padding="left").device.type == "cpu"
        assert again.select([1]).keys.device.type == "cpu"


@pytest.mark.parametrize("n", [1, 2])
def test_the_scale(n: int) -> None:
    q, k, v = tokens(6, 2, 1), tokens(6, 1, 2), tokens(6, 1, 3)
    expected = right(q, k, v, 4, scale=0.25)
    for scale in (0.25, np.float32(0.25), np.float64(0.25)):
        ring = TorchRing(4, 2, 1, 4)
        for t in range(0, 6, n):
            part = slice(t, t + n)
            out = ring.step(*(x[:, :, part] for x in (q, k, v)), scale=scale)
            assert (out - expected[:, :, part]).abs().max() < 2e-6
        assert (ring.attend(q[:, :, -1:], scale) - expected[:, :, -1:]).abs().max() < 2e-6


def test_scores_too_large_for_exp() -> None:
    k = 1000 * tokens(5)
    ring = TorchRing(4, 2, 1, 4)
    assert ring.step(k, k, k).isfinite().all()
    assert ring.attend(k[:, :, -1:]).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype: Any) -> None:
    x = torch.full((2, 1, 3, 64), 100, dtype=dtype)  # scores of 80,000 are past float16
    ring = TorchRing(4, 2, 1, 64, dtype=dtype)
    assert (ring.step(x, x, x) == 100).all()
    for scale in (None, 7e4):
        assert (ring.attend(x[:, :, -1:], scale) == 100).all()
        assert (ring.step(x[:, :, -1:], x[:, :, -1:], x[:, :, -1:], scale=scale) == 100).all()


def test_it_agrees_with_the_ring_of_stage_2() -> None:
    q, k, v = (tokens(23, heads, seed) for heads, seed in ((4, 1), (2, 2), (2, 3)))
    ours, start = TorchRing(5, 2, 2, 4, 1, 2), 0
    theirs = [NumpyRing(5, 2, 4, 1, 2) for _ in range(2)]
    for n in (1, 3, 1, 9, 1, 1, 7):
        part = slice(start, start + n)
        out = ours.step(*(x[:, :, part] for x in (q, k, v)))
        for row, ring in enumerate(theirs):
            expected = ring.step(*(x[row, :, part].numpy() for x in (q, k, v)))
            assert np.abs(out[row].numpy() - expected).max() < 2e-6
            assert ours.positions[row].tolist() == ring.positions.tolist()
            assert (ours.keys[row].numpy() == ring.keys).all()
        start += n


def test_nothing_is_stored_by_reference() -> None:
    for n in (1, 2, 9):
        ring, k = TorchRing(4, 2, 1, 4), tokens(n)
        ring.append(k, k)
        before = snapshot(ring)
        k.fill_(9)
        assert alike(snapshot(ring), before)


def test_an_empty_ring_and_an_empty_row_give_zeros() -> None:
    ring = ring_after(0, sinks=1)
    q = tokens(1, 2)
    assert not ring.attend(q).any()
    ring.append(tokens(3), tokens(3), lengths=[3, 0])
    out = ring.attend(q)
    assert out[0].any()
    assert not out[1].any()
    out = ring.step(q, tokens(1), tokens(1), lengths=[0, 0])
    assert not out.any()
    assert ring.seen.tolist() == [3, 0]
    ring.rewind(torch.tensor([3, 0]))
    assert not ring.attend(q).any()


# Numbers that are not finite.


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("bad", ["k", "v"])
@pytest.mark.parametrize("at", [0, 4, 9])
@pytest.mark.parametrize("sinks", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_is_not_finite_harms_nothing_once_it_has_left(dtype, sinks, bad, at, value) -> None:
    """The other row and the other head are never harmed, the same head only while it is stored."""
    q, k, v = (tokens(10, heads, seed, dtype) for heads, seed in ((4, 1), (2, 2), (2, 3)))
    clean = right(q, k, v, 3, sinks)
    {"k": k, "v": v}[bad][0, 1, at] = value
    for sizes in ([10], [1] * 10, [5, 5], [2, 6, 2]):
        ring, start = TorchRing(3, 2, 2, 4, sinks, dtype=dtype), 0
        for n in sizes:
            part = slice(start, start + n)
            out = ring.step(*(x[:, :, part] for x in (q, k, v)))
            free = torch.ones(2, 4, n, dtype=torch.bool)
            oldest = (
                start - 3 if n > 1 else start - 2
            )  # a single token is written before it attends
            free[0, 2:] = at >= start + n or (at < oldest and at >= sinks)
            apart = (out - clean[:, :, part]).abs().amax(-1)[free]
            assert (apart < (2e-6 if dtype == torch.float32 else 3e-3)).all()
            if bad == "v" and start <= at < start + n:  # and it is not hidden
                assert not out[0, 2:, at - start].isfinite().all()
            start += n


def test_padding_that_is_not_finite_leaves_no_trace() -> None:
    for side, real in (("right", slice(0, 2)), ("left", slice(3, 5))):
        x = torch.full((2, 1, 5, 4), torch.nan)
        x[:, :, real] = tokens(2)
        ring, clean = TorchRing(4, 2, 1, 4, slack=2), TorchRing(4, 2, 1, 4, slack=2)
        out = ring.step(x, x, x, [2, 2], side)
        expected = clean.step(*[tokens(2)] * 3)
        assert (out[:, :, real] - expected).abs().max() < 1e-6
        assert out.isfinite().all()
        assert alike(snapshot(ring), snapshot(clean))


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_taken_back_means_forgotten(poison: float) -> None:
    ring = ring_after(9, slack=3, sinks=1)
    bad = torch.full((2, 1, 2, 4), poison)
    ring.append(bad, bad)
    ring.rewind(2)
    gone = ring.positions < 0
    assert gone.sum(1).tolist() == [2, 2]
    for stored in (ring.keys, ring.values):
        assert (stored[:, 0][gone] == 0).all()
        assert stored.isfinite().all()
    ring.append(bad, bad, lengths=[2, 0])
    ring.reset(0)
    assert ring.keys.isfinite().all()
    ring.append(bad, bad)
    ring.reset()
    assert not ring.keys.any()
    assert not ring.values.any()


# Taking back.


def test_a_refused_rewind_names_the_oldest_and_the_row_and_changes_nothing() -> None:
    ring = ring_after(10, slack=4)
    before = snapshot(ring)
    refused: list[tuple[Any, type[Exception], str]] = [
        (5, RewindError, r"^row 0: rewind\(5\).*needs position 1.*oldest position still held is 2"),
        (torch.tensor([4, 5]), RewindError, r"^row 1: rewind\(5\).*needs position 1"),
        (11, RewindError, "only 10 tokens"),
        (torch.tensor([0, 11], dtype=torch.int32), RewindError, r"row 1: .*only 10 tokens"),
        (-1, ValueError, "n is -1; give 0 or more"),
        (torch.tensor([0, -1]), ValueError, "row 1: n is -1; give 0 or more"),
        (torch.tensor([-(2**63), 0]), ValueError, "row 0"),
        (torch.tensor([2**63 - 1, 0]), ValueError, "row 0|n is"),
        (torch.tensor(-1), ValueError, "n is -1"),
        (1.5, TypeError, r"n is 1\.5; give a whole number"),
        (True, TypeError, "n is True"),
        (torch.tensor(True), TypeError, "n has dtype torch.bool"),
        (torch.tensor([1.0, 0]), TypeError, "n has dtype torch.float32; give 2 whole numbers"),
        (torch.tensor([1]), ValueError, r"n has shape \(1,\); give 2 whole numbers"),
        (torch.tensor([1, 1], device="meta"), TypeError, "n is on meta and this ring on cpu"),
        (None, TypeError, "n is None"),
        ([1, 1.5], TypeError, r"n is \[1, 1\.5\]; give 2 whole numbers"),
        ([1, 1, 1], ValueError, r"n has shape \(3,\); give 2 whole numbers"),
    ]
    for n, error, words in refused:
        with pytest.raises(error, match=words):
            ring.rewind(n)
        assert alike(snapshot(ring), before)
    with pytest.raises(RewindError, match=r"^rewind\(1\)"):  # one row needs no name
        ring_after(10, batch=1).rewind(1)


def test_an_empty_ring_gives_nothing_back() -> None:
    ring = ring_after(0)
    for n in (torch.tensor([-1, 0]), -1):
        with pytest.raises(ValueError, match="n is -1; give 0 or more"):
            ring.rewind(n)
    with pytest.raises(RewindError, match=r"row 1: rewind\(1\): only 0 tokens"):
        ring.rewind([0, 1])
    ring.rewind([0, 0])
    assert ring.seen.tolist() == [0, 0]


def test_how_far_back_may_be_said_in_several_ways() -> None:
    ring = ring_after(10, slack=5)
    ring.rewind(torch.tensor(3))
    assert ring.seen.tolist() == [7, 7]
    for n in ([1, 0], (0, 1), np.array([1, 1])):
        ring.rewind(n)
    assert ring.seen.tolist() == [5, 5]


def test_rewinds_into_the_sinks() -> None:
    ring = ring_after(3, sinks=2)
    ring.rewind(torch.tensor([2, 3]))
    assert ring.positions.tolist() == [[0, -1, -1, -1, -1, -1], [-1] * 6]
    ring = ring_after(20, sinks=2)
    with pytest.raises(RewindError, match="needs position 2"):
        ring.rewind(17)
    ring.rewind(19)  # a text of one token needs sink 0 alone, and that is held
    assert ring.positions[0].tolist() == [0, -1, -1, -1, -1, -1]


@pytest.mark.parametrize("first", range(1, 4))
def test_after_a_rewind_the_mask_comes_back_until_the_ring_is_full_again(first: int) -> None:
    """A ring that was full has holes: its fast path must wait for every one of them."""
    q, k, v = (tokens(30, heads, seed) for heads, seed in ((2, 1), (1, 2), (1, 3)))
    ring = TorchRing(4, 2, 1, 4)
    ring.append(k[:, :, :4], v[:, :, :4])
    ring.rewind(first)
    left = 4 - first
    texts = [torch.cat([x[:, :, :left], x[:, :, 4:]], 2) for x in (q, k, v)]
    expected = right(*texts, 4)
    for t in range(left, 20):
        out = ring.step(*(x[:, :, [t]] for x in texts))
        assert (out - expected[:, :, [t]]).abs().max() < 2e-6


# States, and rows in other places.


@pytest.mark.parametrize("given", [None, "cpu", torch.device("cpu")])
def test_a_state_is_a_copy_in_either_direction(given: Any) -> None:
    ring = ring_after(7, slack=1)
    state, before = ring.state_dict(), snapshot(ring)
    ring.append(tokens(3), tokens(3))
    first = TorchRing.from_state_dict(state, given)
    second = TorchRing.from_state_dict(state, device=given)
    assert alike(snapshot(first), before)
    first.append(tokens(3), tokens(3))
    for name in ("keys", "values", "positions", "seen"):
        state[name].fill_(99)
    assert alike(snapshot(second), before)
    state = second.state_dict()
    kept = {name: state[name].clone() for name in ("keys", "values", "positions", "seen")}
    second.step(tokens(1), tokens(1), tokens(1))
    second.reset()
    assert all(torch.equal(state[name], kept[name]) for name in kept)


def test_a_state_survives_a_file_at_every_length() -> None:
    q, k, v = (tokens(20, heads, seed) for heads, seed in ((2, 1), (1, 2), (1, 3)))
    for n in range(13):
        ring = TorchRing(4, 2, 1, 4, 1, 1)
        if n:
            ring.append(k[:, :, :n], v[:, :, :n], lengths=[n, n // 2])
        file = io.BytesIO()
        torch.save(ring.state_dict(), file)
        file.seek(0)
        again = TorchRing.from_state_dict(torch.load(file, weights_only=True))
        assert (again.window, again.sinks, again.slack, again.slots) == (4, 1, 1, 6)
        for t in range(13, 19):
            given = [x[:, :, [t]] for x in (q, k, v)]
            assert (again.step(*given) - ring.step(*given)).abs().max() < 1e-6
        assert alike(snapshot(again), snapshot(ring))


def test_what_a_state_holds_in_empty_slots_is_not_loaded() -> None:
    state = ring_after(2).state_dict()
    state["values"][:, :, 2:] = np.nan
    assert not TorchRing.from_state_dict(state).values[:, :, 2:].any()


def state_with(**change: Any) -> Any:
    state = ring_after(5, slack=2).state_dict() | change
    return {name: value for name, value in state.items() if value is not None}


def rows(*positions: int) -> Any:
    """Give positions of which only the second row is not a ring's."""
    return torch.tensor([[0, 1, 2, 3, 4, -1], positions])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"seen": None}, ValueError, "lacks seen"),
        ({"seen": None, "slack": None}, ValueError, "lacks slack, seen"),
        ({"window": 5}, ValueError, "window 5, sinks 0 and slack 2 make them torch.float32"),
        ({"window": 4.0}, TypeError, "window is 4.0"),
        ({"window": True}, TypeError, "window is True"),
        ({"sinks": -1}, ValueError, "sinks is -1"),
        ({"keys": torch.zeros(2, 5, 4)}, ValueError, r"keys have shape \(2, 5, 4\); give \(batch"),
        ({"keys": torch.zeros(2, 1, 6, 4).long()}, TypeError, "dtype is torch.int64"),
        ({"values": torch.zeros(2, 1, 6, 4).double()}, ValueError, "values are torch.float64"),
        (
            {"values": torch.zeros(2, 1, 6, 3)},
            ValueError,
            r"values are torch.float32 \(2, 1, 6, 3\)",
        ),
        ({"values": torch.zeros(2, 1, 6, 4, device="meta")}, ValueError, "values are on the meta"),
        ({"keys": [[[[0.0]]]]}, TypeError, "keys is a list; give a tensor"),
        ({"positions": rows(0, 1, 2, 3, 4, -1).int()}, ValueError, "positions are torch.int32"),
        ({"positions": rows(1, 0, -1, -1, -1, -1)}, ValueError, "cannot be those of a ring"),
        ({"positions": rows(0, 1, 2, 3, 4, 50)}, ValueError, "cannot be those of a ring"),
        ({"positions": rows(0, 1, 2, 3, 4, -7)}, ValueError, "cannot be those of a ring"),
        ({"positions": rows(0, 1, 2, -1, 4, -1)}, ValueError, "cannot be those of a ring"),
        ({"positions": rows(-1, -1, -1, -1, -1, -1)}, ValueError, "cannot be those of a ring"),
        ({"seen": torch.tensor([5, 500])}, ValueError, "cannot be those of a ring"),
        ({"seen": torch.tensor([5, 4])}, ValueError, "cannot be those of a ring"),
        ({"seen": torch.tensor([5, -1])}, ValueError, "seen is -1"),
        ({"seen": torch.tensor([5, 2**62])}, ValueError, "seen is 4611686018427387904; give less"),
        ({"seen": torch.tensor([5.0, 5.0])}, ValueError, "seen are torch.float32"),
        ({"seen": torch.tensor(5)}, ValueError, r"seen are torch.int64 \(\)"),
        ({"seen": 5}, TypeError, "seen is a int; give a tensor"),
    ],
)
def test_a_state_that_no_ring_has_is_refused(change: Any, error: Any, words: str) -> None:
    TorchRing.from_state_dict(state_with())
    with pytest.raises(error, match=words):
        TorchRing.from_state_dict(state_with(**change))


def test_what_is_no_state_at_all() -> None:
    for wrong in (None, [], "state"):
        with pytest.raises(TypeError, match="the state is a"):
            TorchRing.from_state_dict(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="device is 'nowhere'"):
        TorchRing.from_state_dict(state_with(), device="nowhere")


def test_a_state_can_be_loaded_without_values() -> None:
    ring = TorchRing.from_state_dict(ring_after(5).state_dict(), device="meta")
    assert ring.keys.is_meta
    x = tokens(1).to("meta")
    assert ring.step(x, x, x).is_meta


def test_a_state_with_gradients_leaves_none_in_the_ring() -> None:
    state = state_with()
    state["keys"].requires_grad_()
    ring = TorchRing.from_state_dict(state)
    assert not ring.keys.requires_grad
    ring.step(tokens(1), tokens(1), tokens(1))


@pytest.mark.parametrize("start", [2**24 - 3, 2**31 - 3, 2**53 - 3, 2**61])
@pytest.mark.parametrize("dtype", DTYPES)
def test_very_long_texts(start: int, dtype: Any) -> None:
    """Positions are whole numbers, whatever the keys are: a float would merge neighbours."""
    q, k, v = (tokens(9, 1, seed, dtype) for seed in (1, 2, 3))
    ring = TorchRing(4, 2, 1, 4, dtype=dtype)
    held = sorted(range(start - 4, start), key=lambda p: p % 4)
    order = torch.tensor([p - start + 4 for p in held])
    state = ring.state_dict() | {"seen": torch.tensor([start, start])}
    state |= {"keys": k[:, :, :4][:, :, order], "values": v[:, :, :4][:, :, order]}
    ring = TorchRing.from_state_dict(state | {"positions": torch.tensor([held, held])})
    expected = right(q, k, v, 4)
    within = {torch.float16: 3e-3, torch.bfloat16: 3e-2, torch.float32: 2e-6, torch.float64: 1e-14}
    for part in (slice(4, 5), slice(5, 8), slice(8, 9)):
        out = ring.step(*(x[:, :, part] for x in (q, k, v)), lengths=[part.stop - part.start, 0])
        assert (out - expected[:, :, part])[0].abs().max() < within[dtype]
    assert sorted(ring.positions[0].tolist()) == list(range(start + 1, start + 5))
    assert ring.positions[1].tolist() == held
    assert ring.seen.tolist() == [start + 5, start]


def test_reorder_select_and_stack() -> None:
    ring = ring_after(6, sinks=1)
    ring.append(tokens(2), tokens(2), lengths=[0, 2])
    first, second = ([x[row].clone() for x in tensors(ring)] for row in (0, 1))
    for rows_given in ([1, 0], torch.tensor([1, 0]), torch.tensor([1, 0], dtype=torch.int32)):
        other = copy.deepcopy(ring)
        other.reorder(rows_given)
        assert alike([x[0] for x in tensors(other)], second)
        assert alike([x[1] for x in tensors(other)], first)
    taken = ring.select([1, 1, 0])
    assert [len(x) for x in tensors(taken)] == [3, 3, 3, 3]
    for row, source in enumerate((second, second, first)):
        assert alike([x[row] for x in tensors(taken)], source)
    assert alike(tensors(ring.select(1)), [x[None] for x in second])
    both = TorchRing.stack([taken, ring])
    assert both.seen.tolist() == [8, 8, 6, 6, 8]
    assert (both.sinks, both.window, both.check) == (1, 4, False)
    before = snapshot(both)
    taken.reset()
    ring.reset()
    assert alike(snapshot(both), before)
    split = [both.select(row) for row in range(5)]
    assert alike(snapshot(TorchRing.stack(split)), before)
    assert TorchRing.stack(iter(split)).sinks == 1


def test_a_stack_of_a_full_ring_and_an_empty_one_is_masked() -> None:
    """One row is full and one is not: what the host knows must hold for both."""
    q, k, v = tokens(5, 1, 1), tokens(5, 1, 2), tokens(5, 1, 3)
    full = TorchRing(4, 2, 1, 4)
    full.append(tokens(9), tokens(9))
    empty = TorchRing(4, 2, 1, 4)
    for both in (TorchRing.stack([full, empty]), TorchRing.stack([empty, full])):
        row = both.seen.tolist().index(0)
        for t in range(5):
            given = [torch.cat([x[:, :, [t]]] * 2) for x in (q, k, v)]
            out = both.step(*given)
            assert (out[[row, row + 1]] - right(q, k, v, 4)[:, :, [t]]).abs().max() < 2e-6


def test_rings_that_cannot_be_stacked() -> None:
    for wrong in ([], [ring_after(1), None], [NumpyRing(4, 1, 4)]):
        with pytest.raises(TypeError, match="stack takes TorchRings"):
            TorchRing.stack(wrong)  # type: ignore[arg-type]
    changes: tuple[dict[str, Any], ...] = (
        {"window": 5}, {"sinks": 1}, {"slack": 1}, {"kv_heads": 2}, {"head_dim": 8},
        {"dtype": torch.float64}, {"device": "meta"},
    )  # fmt: skip
    for change in changes:
        with pytest.raises(ValueError, match=f"the rings differ in {next(iter(change))}"):
            TorchRing.stack([ring_after(0), ring_after(0, **change)])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([0, 2], ValueError, r"rows are \[0, 2\]; this ring has rows 0 to 1"),
        ([-1, 0], ValueError, "this ring has rows 0 to 1"),
        (torch.tensor([0, 5]), ValueError, "this ring has rows 0 to 1"),
        (torch.tensor([True, False]), TypeError, "rows is a mask of bool; give row numbers"),
        ([True, False], TypeError, "rows is True"),
        (torch.tensor([0.0, 1.0]), TypeError, "rows has dtype torch.float32"),
        (torch.tensor([[0, 1]]), ValueError, r"rows has shape \(1, 2\)"),
        (torch.tensor([0, 1], device="meta"), TypeError, "rows is on meta and this ring on cpu"),
        ("01", TypeError, "rows is '01'"),
        (1.0, TypeError, "rows is 1.0"),
        (True, TypeError, "rows is True"),
    ],
)
def test_wrong_rows_are_refused_and_change_nothing(given: Any, error: Any, words: str) -> None:
    ring = ring_after(5)
    before = snapshot(ring)
    for call in (ring.reset, ring.reorder, ring.select):
        with pytest.raises(error, match=words):
            call(given)
        assert alike(snapshot(ring), before)


def test_rows_of_the_wrong_number() -> None:
    ring = ring_after(5)
    for wrong in ([0], [0, 1, 0], 1, None):
        with pytest.raises((ValueError, TypeError), match="rows"):
            ring.reorder(wrong)
    with pytest.raises(ValueError, match="rows is empty; a ring has one row or more"):
        ring.select([])
    before = snapshot(ring)
    ring.reset([])  # of no row
    assert alike(snapshot(ring), before)


# Inputs.


@pytest.mark.parametrize(
    ("sizes", "error", "words"),
    [
        ({"window": 0}, ValueError, "window is 0; give 1 or more"),
        ({"window": 2.5}, TypeError, "window is 2.5; give a whole number"),
        ({"window": True}, TypeError, "window is True; give a whole number"),
        ({"batch": 0}, ValueError, "batch is 0; give 1 or more"),
        ({"sinks": -1}, ValueError, "sinks is -1; give 0 or more"),
        ({"slack": "2"}, TypeError, "slack is '2'"),
        ({"kv_heads": 0}, ValueError, "kv_heads is 0"),
        ({"head_dim": 0}, ValueError, "head_dim is 0"),
        ({"dtype": torch.int64}, TypeError, "dtype is torch.int64; give one of torch.float16"),
        ({"dtype": torch.complex64}, TypeError, "dtype is torch.complex64"),
        ({"dtype": "float32"}, TypeError, "dtype is 'float32'"),
        ({"dtype": np.float32}, TypeError, "give one of torch.float16"),
        ({"device": "nowhere"}, ValueError, "device is 'nowhere'; give one such as 'cpu'"),
        ({"device": 3.5}, ValueError, "device is 3.5"),
        ({"device": "xpu"}, ValueError, "xpu"),
        ({"device": "hpu"}, ValueError, "hpu"),
        ({"window": 10**30}, ValueError, "give less than 2 .. 62"),
        ({"window": 2**61}, ValueError, "cannot be made on cpu .*give smaller sizes"),
        ({"window": 2**45}, ValueError, "cannot be made on cpu .*give smaller sizes"),
    ],
)
def test_sizes_that_cannot_be(sizes: dict[str, Any], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        ring_after(0, **sizes)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device to use")
def test_a_ring_on_cuda_without_cuda_is_refused() -> None:
    for name in ("cuda", "cuda:3"):
        with pytest.raises(ValueError, match="finds no CUDA device; give 'cpu'"):
            ring_after(0, device=name)


GOOD = tokens(2, 2)
META = GOOD.to("meta")
WRONG_INPUTS: list[tuple[Any, Any, Any, type[Exception], str]] = [
    (GOOD, GOOD[:, :1], GOOD, ValueError, r"k has shape \(2, 1, 2, 4\)"),
    (GOOD, GOOD[:1], GOOD[:1], ValueError, r"give \(batch, kv_heads, n, head_dim\) \(2, 2, n, 4\)"),
    (GOOD, GOOD, GOOD[:, :, :1], ValueError, r"k has shape \(2, 2, 2, 4\) and v \(2, 2, 1, 4\)"),
    (GOOD, GOOD[..., :3], GOOD, ValueError, r"k has shape \(2, 2, 2, 3\)"),
    (GOOD, GOOD[:, :, :0], GOOD[:, :, :0], ValueError, "with n >= 1"),
    (GOOD, GOOD[0], GOOD, ValueError, r"k has shape \(2, 2, 4\)"),
    (GOOD, GOOD.tolist(), GOOD, TypeError, "k is a list; give a tensor"),
    (GOOD, GOOD.numpy(), GOOD, TypeError, "k is a ndarray; give a tensor"),
    (GOOD, GOOD, GOOD.double(), TypeError, r"v.to\(torch.float32\)"),
    (GOOD, GOOD.half(), GOOD, TypeError, "k has dtype torch.float16 and this ring stores"),
    (GOOD.bfloat16(), GOOD, GOOD, TypeError, "q has dtype torch.bfloat16"),
    (GOOD[:, :1], GOOD, GOOD, ValueError, "a multiple of 2"),
    (tokens(2, 3), GOOD, GOOD, ValueError, "heads a multiple of 2"),
    (GOOD[:, :0], GOOD, GOOD, ValueError, "a multiple of 2"),
    (GOOD[:, :, :1], GOOD, GOOD, ValueError, r"q has shape \(2, 2, 1, 4\)"),
    (GOOD[:1], GOOD, GOOD, ValueError, r"q has shape \(1, 2, 2, 4\)"),
    (GOOD[0], GOOD, GOOD, ValueError, r"q has shape \(2, 2, 4\)"),
    (None, GOOD, GOOD, TypeError, "q is a NoneType; give a tensor"),
    (
        META,
        GOOD,
        GOOD,
        TypeError,
        r"q is on meta and this ring on cpu; move it first: q.to\('cpu'\)",
    ),
    (GOOD, META, GOOD, TypeError, "k is on meta"),
    (GOOD, GOOD, META, TypeError, "v is on meta"),
]


@pytest.mark.parametrize(("q", "k", "v", "error", "words"), WRONG_INPUTS)
@pytest.mark.parametrize("n", [1, 2])
def test_wrong_inputs_are_refused_and_change_nothing(n, q, k, v, error, words) -> None:
    ring = ring_after(5, kv_heads=2)
    before, bounds = snapshot(ring), dict(vars(ring._bounds))
    with pytest.raises(error, match=words):
        ring.step(q, k, v)
    if q is GOOD:
        with pytest.raises(error, match=words):
            ring.append(k, v)
    assert alike(snapshot(ring), before)
    assert dict(vars(ring._bounds)) == bounds


@pytest.mark.parametrize(
    ("lengths", "error", "words"),
    [
        ([1], ValueError, r"lengths has shape \(1,\); give 2 whole numbers"),
        ([1, 2, 1], ValueError, r"lengths has shape \(3,\)"),
        ([3, 0], ValueError, r"lengths are \[3, 0\]; give 2 numbers from 0 to 2"),
        ([0, -1], ValueError, "give 2 numbers from 0 to 2"),
        (torch.tensor([3, 0]), ValueError, r"lengths are \[3, 0\]"),
        (torch.tensor([200, 0], dtype=torch.uint8), ValueError, r"lengths are \[200, 0\]"),
        ([True, False], TypeError, "lengths is True"),
        (torch.tensor([True, False]), TypeError, "lengths has dtype torch.bool"),
        ([1.0, 2.0], TypeError, r"lengths is 1\.0"),
        (torch.tensor([1.0, 2.0]), TypeError, "lengths has dtype torch.float32"),
        (torch.tensor([[1, 2]]), ValueError, r"lengths has shape \(1, 2\)"),
        (torch.tensor([1, 2], device="meta"), TypeError, "lengths is on meta and this ring on cpu"),
        (2, TypeError, "lengths is 2; give 2 whole numbers"),
        (torch.tensor(2), ValueError, r"lengths has shape \(\)"),
        ("12", TypeError, "lengths is '12'"),
        ([10**30, 0], ValueError, "give less than 2 .. 62"),
    ],
)
def test_wrong_lengths_are_refused_and_change_nothing(lengths, error, words) -> None:
    ring = ring_after(5, kv_heads=2)
    before = snapshot(ring)
    with pytest.raises(error, match=words):
        ring.step(GOOD, GOOD, GOOD, lengths)
    with pytest.raises(error, match=words):
        ring.append(GOOD, GOOD, lengths)
    assert alike(snapshot(ring), before)


@pytest.mark.parametrize("padding", ["Left", "", None, 0, True, ["left"]])
def test_a_wrong_side_is_refused_and_changes_nothing(padding: Any) -> None:
    """Also without lengths: a typing mistake must not wait for the first padded batch."""
    ring = ring_after(5, kv_heads=2)
    before = snapshot(ring)
    for lengths in (None, [1, 2]):
        with pytest.raises(ValueError, match="give 'right' or 'left'"):
            ring.step(GOOD, GOOD, GOOD, lengths, padding)
        with pytest.raises(ValueError, match="padding is"):
            ring.append(GOOD, GOOD, lengths, padding)
    assert alike(snapshot(ring), before)


@pytest.mark.parametrize(
    ("scale", "error", "words"),
    [
        ("0.5", TypeError, "scale is '0.5'; give a number of the host, or None"),
        ([1.0], TypeError, r"scale is \[1.0\]"),
        (True, TypeError, "scale is True"),
        (1j, TypeError, "scale is 1j"),
        (torch.tensor(0.5), TypeError, "give a number of the host"),
        (float("inf"), ValueError, "scale is inf; give a finite number that float32 can hold"),
        (float("nan"), ValueError, "scale is nan"),
        (1e39, ValueError, "scale is 1e.39"),
        (10**400, ValueError, "that float32 can hold"),
    ],
)
@pytest.mark.parametrize("n", [1, 2])
def test_a_wrong_scale_is_refused_and_changes_nothing(n, scale, error, words) -> None:
    ring = ring_after(5, kv_heads=2)
    before = snapshot(ring)
    for call in (
        lambda: ring.step(*[GOOD[:, :, :n]] * 3, scale=scale),
        lambda: ring.attend(GOOD[:, :, :1], scale),
    ):
        with pytest.raises(error, match=words):
            call()
        assert alike(snapshot(ring), before)


def test_queries_that_do_not_fit() -> None:
    ring = ring_after(5, kv_heads=2)
    for q in (GOOD, GOOD[:, :, 0], GOOD[:1, :, :1], GOOD[:, :1, :1], GOOD[:, :, :1, :3]):
        with pytest.raises(ValueError, match="q has shape"):
            ring.attend(q)
    with pytest.raises(TypeError, match="q is on meta"):
        ring.attend(META[:, :, :1])


@pytest.mark.parametrize("sinks", [0, 2, 5])
@pytest.mark.parametrize("seen", [1, 3, 4, 6, 8, 11, 13])
def test_inputs_may_be_views_of_the_ring_itself(seen: int, sinks: int) -> None:
    def two() -> tuple[TorchRing, TorchRing]:
        return ring_after(seen, sinks=sinks), ring_after(seen, sinks=sinks)

    for n in (1, 3, 4, 4 + sinks):
        for start in range(4 + sinks - n + 1):
            part = slice(start, start + n)
            for lengths in (None, [n, n // 2]):
                ours, theirs = two()
                views = [x[:, :, part] for x in (ours.values, ours.keys, ours.values)]
                copies = [view.clone() for view in views]
                out = ours.step(*views, lengths=lengths)
                assert torch.equal(out, theirs.step(*copies, lengths=lengths))
                assert alike(snapshot(ours), snapshot(theirs))
                ours, theirs = two()
                copies = [view.clone() for view in (ours.values[:, :, part], ours.keys[:, :, part])]
                ours.append(ours.values[:, :, part], ours.keys[:, :, part], lengths=lengths)
                theirs.append(*copies, lengths=lengths)
                assert alike(snapshot(ours), snapshot(theirs))


def test_one_stored_key_may_be_given_many_times() -> None:
    ours, theirs = ring_after(7, sinks=2), ring_after(7, sinks=2)
    for n in (5, 7, 20):
        view = ours.keys[:, :, 3:4].expand(-1, -1, n, -1)
        given = view.clone()
        ours.append(view, view)
        theirs.append(given, given)
        assert alike(snapshot(ours), snapshot(theirs))


def test_a_query_may_be_a_view_of_the_slot_that_is_written() -> None:
    ours, theirs = ring_after(6), ring_after(6)  # the next slot is 2
    q = ours.keys[:, :, 2:3]
    expected = theirs.step(q.clone(), tokens(1, seed=2), tokens(1, seed=3))
    assert torch.equal(ours.step(q, tokens(1, seed=2), tokens(1, seed=3)), expected)


def test_inputs_need_not_be_contiguous() -> None:
    q, k, v = (tokens(6, heads, seed=heads) for heads in (4, 2, 2))
    expected = right(q, k, v, 3)
    turned = [x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0) for x in (q, k, v)]
    assert not any(x.is_contiguous() for x in turned)
    for sizes in ([6], [1] * 6, [2, 4]):
        for lengths in (False, True):
            ring, start = TorchRing(3, 2, 2, 4), 0
            for n in sizes:
                given = [x[:, :, start : start + n] for x in turned]
                out = ring.step(*given, lengths=[n, n] if lengths else None)
                assert (out - expected[:, :, start : start + n]).abs().max() < 2e-6
                start += n


@pytest.mark.parametrize("n", [1, 3, 9])
@pytest.mark.parametrize("lengths", [None, [1, 0]])
def test_there_are_no_gradients(n: int, lengths: Any) -> None:
    ring = ring_after(5)
    x = tokens(n).requires_grad_()
    assert not ring.step(x, x, x, lengths).requires_grad
    assert not ring.attend(x[:, :, :1]).requires_grad
    ring.append(x * 2, x * 3, lengths)
    assert not any(y.requires_grad for y in tensors(ring))
    assert not ring.select([0]).keys.requires_grad
    assert torch.is_grad_enabled()


def test_inference_mode_may_come_and_go() -> None:
    q, k, v = (tokens(16, 1, seed) for seed in (1, 2, 3))
    expected = right(q, k, v, 4)
    with torch.inference_mode():
        ring = TorchRing(4, 2, 1, 4)
        made_inside = [x.clone() for x in (q, k, v)]
    for t in range(8):
        with torch.inference_mode(t % 2 == 0):
            given = [x[:, :, [t]] for x in (made_inside if t % 3 else (q, k, v))]
            out = ring.step(*given)
        assert (out - expected[:, :, [t]]).abs().max() < 2e-6
    with torch.inference_mode():
        state, taken = ring.state_dict(), ring.select([0, 1])
    ring.reset()
    for other in (TorchRing.from_state_dict(state), taken):
        for t in range(8, 12):
            out = other.step(*(x[:, :, [t]] for x in made_inside))
            assert (out - expected[:, :, [t]]).abs().max() < 2e-6
        other.rewind(other.seen)
        other.reset([0])


def test_values_on_an_accelerator_are_looked_at_only_when_asked() -> None:
    """The meta device stands for one: reading there would raise."""
    ring = ring_after(0, device="meta", slack=2, check=True)
    x = tokens(3).to("meta")
    ring.step(x, x, x, torch.tensor([7, 7], device="meta"))
    ring.reset(torch.tensor([9], device="meta"))
    ring.rewind(torch.tensor([1, 0], device="meta"))
    with pytest.raises(ValueError, match="lengths are"):
        ring.append(x, x, [7, 7])  # these the host knows
    with pytest.raises(ValueError, match="this ring has rows 0 to 1"):
        ring.reorder([0, 2])


def test_unchecked_rewinds_stay_within_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the host may not look, a row is never shorter than 0 nor longer than it was."""
    import ringkv_edu.torch_inputs as inputs

    monkeypatch.setattr(inputs, "readable", lambda x, check: False)
    ring = ring_after(10)
    ring.rewind(torch.tensor([99, -5]))
    assert ring.seen.tolist() == [0, 10]
    assert ring.positions.tolist() == [[-1] * 4, [8, 9, 6, 7]]
    ring.rewind(2)  # what is no longer stored is missing; what is stored is seen
    assert ring.positions.tolist() == [[-1] * 4, [-1, -1, 6, 7]]
    q, k, v = tokens(1, 1, 1), tokens(1, 1, 2), tokens(1, 1, 3)
    stored = [torch.cat([x[:, :, 2:], y], 2)[1] for x, y in ((ring.keys, k), (ring.values, v))]
    out = ring.step(q, k, v)
    weights = torch.softmax(q[1] @ stored[0].mT / 2, -1)
    assert (out[1] - weights @ stored[1]).abs().max() < 2e-6
    ring = ring_after(10)
    with pytest.raises(RewindError, match="the oldest position still held is 6"):
        ring.rewind(7)  # while all rows are alike, the host knows what they hold
    ring.rewind(torch.tensor([7, 7]))  # of the three tokens that are left none is stored
    assert ring.seen.tolist() == [3, 3]
    assert not ring.attend(q).any()
    assert (ring.step(q, k, v) - v).abs().max() < 1e-6


def test_the_heart_is_short() -> None:
    """Write, mask, attend, step: at most 60 lines of code."""
    heart = (
        "_store", "_write", "_write_few", "_next", "_slots", "_one", "_chunk",
        "append", "step", "attend",
    )  # fmt: skip
    assert sum(_lines_of_code(getattr(TorchRing, name)) for name in heart) <= 60


def _lines_of_code(function: Any) -> int:
    tree = ast.parse(dedent(inspect.getsource(function)))
    definition = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body
    return len({n for node in body for n in range(node.lineno, (node.end_lineno or 0) + 1)})


@pytest.mark.parametrize("which", ["k", "v"])
def test_a_slot_with_its_rows_and_heads_swapped_may_come_back(which: str) -> None:
    ring = ring_after(3, kv_heads=2)
    stored = (ring.keys if which == "k" else ring.values)[:, :, 3:]  # where the next token goes
    stored.copy_(tokens(1, 2, seed=5))
    given = {"k": tokens(1, 2, seed=6), "v": tokens(1, 2, seed=7)} | {which: stored.transpose(0, 1)}
    wanted = {name: x.clone() for name, x in given.items()}
    ring.append(**given)
    assert torch.equal(ring.keys[:, :, 3:], wanted["k"])
    assert torch.equal(ring.values[:, :, 3:], wanted["v"])


def test_a_copy_made_in_inference_mode_can_be_written_later() -> None:
    ring = ring_after(3)
    kept = io.BytesIO()
    torch.save(ring, kept)
    kept.seek(0)
    with torch.inference_mode():
        copies = [copy.deepcopy(ring), torch.load(kept, weights_only=False)]
    k = tokens(1, seed=3)
    ring.append(k, k)
    for other in copies:
        other.append(k, k)
        other.rewind(1)
        other.append(k, k)
        assert alike(tensors(other), tensors(ring))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("group", [1, 2])
def test_autocast_changes_nothing(group: int, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        rings = ring_after(2, kv_heads=2), ring_after(2, kv_heads=2)
        for t, n in enumerate([1, 1, 1, 3, 1, 6, 1]):
            q, k = tokens(n, 2 * group, seed=t), tokens(n, 2, seed=20 + t)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = rings[0].step(q, k, k)
                at = rings[0].attend(q[:, :, -1:])
            assert alike([out, at], [rings[1].step(q, k, k), rings[1].attend(q[:, :, -1:])])
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("which", ["q", "k", "v"])
def test_a_tensor_that_is_negative_by_a_bit_alone(which: str) -> None:
    x = tokens(1)
    given = {"q": x, "k": x, "v": x} | {which: torch.complex(x, x).conj().imag}
    assert given[which].is_neg()
    plain = {"q": x, "k": x, "v": x} | {which: -x}
    for n in (0, 3, 6):
        out, wanted = ring_after(n).step(**given), ring_after(n).step(**plain)
        assert (out - wanted).abs().max() < 2e-6


def test_a_ring_shared_with_another_process_trusts_its_positions_alone() -> None:
    ring, alone = ring_after(2), ring_after(2)
    sent = bytes(ForkingPickler.dumps(ring))  # what a queue does: the storage moves meanwhile
    k = tokens(1, seed=3)
    there = pickle.loads(sent)
    there.append(k, k)  # in the other process
    alone.append(k, k)
    for t in range(6):
        q = tokens(1, 2, seed=t)
        assert torch.equal(ring.step(q, q[:, :1], q[:, 1:]), alone.step(q, q[:, :1], q[:, 1:]))
        assert torch.equal(there.attend(q), alone.attend(q))
    assert alike(tensors(ring), tensors(alone))
    assert alike(tensors(there), tensors(alone))
