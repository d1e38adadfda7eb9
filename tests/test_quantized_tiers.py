"""Quantised rings and tiers: equal to the oracle where exact, near it by a measured bound else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringkv_edu.quantize import calibrate, float8, quantize, relative_error
from ringkv_edu.quantized_ring import QuantizedRing
from ringkv_edu.tiers import TieredCache
from ringkv_edu.visibility import oracle_attention


def outliers(n: int = 64, d: int = 32) -> Any:
    """Keys as models have them: one channel stands far out."""
    x = np.random.default_rng(0).normal(size=(2, n, d)).astype(np.float32)
    x[:, :, 5] = 20 * x[:, :, 5] + 60
    return x


@settings(deadline=None, max_examples=80)
@given(
    bits=st.sampled_from([8, 4]), group=st.sampled_from(["tensor", "head", "channel", "token"]),
    n=st.integers(1, 12), seed=st.integers(0, 99), size=st.sampled_from([1e-4, 1.0, 300.0]),
)  # fmt: skip
def test_no_number_is_off_by_more_than_half_a_step(
    bits: int, group: str, n: int, seed: int, size: float
) -> None:
    x = (size * np.random.default_rng(seed).normal(size=(2, n, 6))).astype(np.float32)
    held = quantize(x, bits, group)
    step = held.scale.astype(np.float32)
    slack = np.abs(held.low.astype(np.float32)) * 2e-3 + 1e-6 * size + 1e-7
    assert (np.abs(held.restored() - x) <= 0.5 * step + slack).all()
    assert held.data.nbytes == x.size * bits // 8


def test_one_channel_that_stands_out_wants_a_scale_of_its_own() -> None:
    x = outliers()
    rest = np.delete(x, 5, axis=2)
    found = {}
    for group in ("tensor", "token", "channel"):
        near = quantize(x, 8, group).restored()
        found[group] = relative_error(rest, np.delete(near, 5, axis=2))
    assert found["channel"] < 0.01
    assert found["token"] > 10 * found["channel"]
    assert found["tensor"] > 10 * found["channel"]


def test_constant_groups_and_single_tokens_come_back() -> None:
    x = np.full((1, 3, 4), 2.5, np.float32)
    for group in ("tensor", "head", "channel", "token"):
        np.testing.assert_array_equal(quantize(x, 4, group).restored(), x)


def test_percentiles_clip_what_is_rare_and_serve_what_is_common() -> None:
    x = np.random.default_rng(1).normal(size=(1, 2000, 2)).astype(np.float32)
    x[0, 0] = 1000
    limits = calibrate(x, "channel", percent=0.1)
    common = x[:, 1:]
    own = relative_error(common, quantize(x, 8, "channel").restored()[:, 1:])
    clipped = relative_error(common, quantize(x, 8, "channel", limits).restored()[:, 1:])
    assert clipped < own / 20


def test_float8_is_nearer_than_its_step() -> None:
    pytest.importorskip("torch")
    x = outliers()
    assert relative_error(x, float8(x)) < 2**-4
    assert relative_error(x, float8(x, "e5m2")) < 2**-3
    with pytest.raises(ValueError, match="e4m3 or e5m2"):
        float8(x, "e3m4")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros((1, 2, 4)), 3, "token"), "bits is 3"),
        ((np.zeros((1, 2, 4)), 8, "row"), "group is 'row'"),
        ((np.zeros((2, 4)), 8, "token"), "x is"),
        ((np.zeros((1, 2, 3)), 4, "token"), "x is"),
        ((np.full((1, 2, 4), np.nan), 8, "token"), "not finite"),
    ],
)
def test_what_cannot_be_quantised(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        quantize(*arguments)
    with pytest.raises(ValueError, match="percent is 60"):
        calibrate(np.zeros((1, 2, 4)), percent=60)


def numbers(seed: int, n: int, d: int = 8) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(h, n, d)) for h in (4, 2, 2))


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 60), window=st.integers(1, 30), block=st.integers(1, 9),
       seed=st.integers(0, 99))  # fmt: skip
def test_a_quantised_ring_without_quantising_is_the_oracle(
    n: int, window: int, block: int, seed: int
) -> None:
    q, k, v = numbers(seed, n)
    ring = QuantizedRing(window, 2, 8, block, exact=True)
    wanted = oracle_attention(q, k, v, window)
    for t in range(n):
        ring.append(k[:, t], v[:, t])
        np.testing.assert_allclose(ring.attend(q[:, t]), wanted[:, t], atol=2e-6)
        assert len(ring.positions) < window + 2 * block


@pytest.mark.parametrize(("bits", "most"), [(8, 0.02), (4, 0.2)])
def test_a_quantised_ring_is_near_and_small(bits: int, most: float) -> None:
    q, k, v = numbers(3, 400, d=32)
    ring, exact = (QuantizedRing(128, 2, 32, 32, bits, exact) for exact in (False, True))
    errors = []
    for t in range(400):
        for one in (ring, exact):
            one.append(k[:, t], v[:, t])
        errors.append(relative_error(exact.attend(q[:, t]), ring.attend(q[:, t])))
    assert 0 < max(errors[64:]) < most
    assert ring.nbytes < exact.nbytes * (0.45 if bits == 8 else 0.35)


def test_three_tiers_forget_nothing(tmp_path: Path) -> None:
    q, k, v = numbers(4, 300, d=32)
    cache = TieredCache(hot=32, warm=4, kv_heads=2, head_dim=32, folder=tmp_path, block=16)
    wanted = oracle_attention(q, k, v, 300)
    errors = []
    for t in range(300):
        cache.append(k[:, t], v[:, t])
        errors.append(relative_error(wanted[:, t], cache.attend(q[:, t])))
    assert max(errors[:47]) < 1e-6  # all hot: exact
    assert 0 < max(errors) < 0.05
    size = cache.nbytes
    assert cache.file.stat().st_size == size["cold"] == cache.moved["cold"]
    assert size["hot"] <= (32 + 16) * 2 * 2 * 32 * 4
    assert cache.moved["warm"] == size["warm"] + size["cold"]
    # each query reads the cold tier whole: that is its price
    before = cache.read["cold"]
    cache.attend(q[:, 299])
    assert cache.read["cold"] - before == size["cold"]
    assert all(seconds > 0 for seconds in cache.seconds.values())


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 60), hot=st.integers(1, 20), warm=st.integers(0, 3),
       block=st.integers(1, 7), seed=st.integers(0, 99))  # fmt: skip
def test_tiers_of_any_size(
    n: int, hot: int, warm: int, block: int, seed: int, tmp_path_factory: Any
) -> None:
    q, k, v = numbers(seed, n)
    cache = TieredCache(hot, warm, 2, 8, tmp_path_factory.mktemp("cold"), block)
    for t in range(n):
        cache.append(k[:, t], v[:, t])
    wanted = oracle_attention(q, k, v, n)[:, -1]
    np.testing.assert_allclose(cache.attend(q[:, -1]), wanted, atol=0.05)
    held = cache.keys.shape[1] + block * (len(cache.warm) + cache.cold)
    assert held == cache.seen == n
