"""RoPE: turns are exact, scores depend on distance alone, and transformers agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ringkv_edu import ntk_base, rotate
from ringkv_edu.rope import article_base, cos_sin, frequencies, turn

PAIRINGS = ("half", "interleaved")


def vectors(n: int, head_dim: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, head_dim))


def test_a_quarter_turn_written_out() -> None:
    """With head_dim 2 the one pair turns one radian a token."""
    x = np.array([[1.0, 0.0]])
    assert np.allclose(rotate(x, [np.pi / 2]), [[0.0, 1.0]])
    four = np.array([[1.0, 2.0, 3.0, 4.0]])
    c, s, c2, s2 = np.cos(1.0), np.sin(1.0), np.cos(0.01), np.sin(0.01)
    half = [1 * c - 3 * s, 2 * c2 - 4 * s2, 3 * c + 1 * s, 4 * c2 + 2 * s2]
    interleaved = [1 * c - 2 * s, 2 * c + 1 * s, 3 * c2 - 4 * s2, 4 * c2 + 3 * s2]
    assert np.allclose(rotate(four, [1]), [half], rtol=1e-15)
    assert np.allclose(rotate(four, [1], pairing="interleaved"), [interleaved], rtol=1e-15)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("head_dim", [2, 4, 64, 128])
@pytest.mark.parametrize(("furthest", "within"), [(10**4, 1e-12), (10**6, 5e-11)])
def test_scores_depend_on_distance_alone(pairing, head_dim, furthest, within) -> None:
    """Random vectors, and vectors that put all their weight on one pair, the hardest case."""
    rng = np.random.default_rng(head_dim)
    half = head_dim // 2
    for trial in range(200):
        q, k = rng.normal(size=(2, head_dim))
        if trial % 2:
            pair = trial // 2 % half
            places = [pair, pair + half] if pairing == "half" else [2 * pair, 2 * pair + 1]
            mask = np.zeros(head_dim)
            mask[places] = 1
            q, k = q * mask, k * mask
        m, n = sorted(rng.integers(0, furthest + 1, 2).tolist())
        a = rotate(q[None], [n], pairing=pairing)[0] @ rotate(k[None], [m], pairing=pairing)[0]
        b = rotate(q[None], [n - m], pairing=pairing)[0] @ k
        assert abs(a - b) <= within * np.linalg.norm(q) * np.linalg.norm(k)


def test_angles_are_right_to_the_last_digits() -> None:
    """Against 60 digits: the product of position and frequency is not rounded on the way."""
    from decimal import Decimal, getcontext

    getcontext().prec = 60
    two_pi = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
    for position in (1, 999, 123_456, 10**6, 2**27 + 1):
        turns = frequencies(64)
        cos, sin = cos_sin([position], 64)
        for pair, turn_per_token in enumerate(turns.tolist()):
            rest = float(Decimal(turn_per_token) * position % two_pi)
            assert abs(cos[0, pair] - np.cos(rest)) < 2e-15
            assert abs(sin[0, pair] - np.sin(rest)) < 2e-15


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype_shape_and_input_are_kept(dtype: Any) -> None:
    x = vectors(6, 8).reshape(2, 3, 8).astype(dtype)
    before = x.copy()
    out = rotate(x, [5, 0, 2])
    assert (out.dtype, out.shape) == (x.dtype, x.shape)
    assert (x == before).all()
    assert (out[:, 1] == x[:, 1]).all()  # position 0 does not turn
    assert np.allclose(
        np.linalg.norm(out.astype(float), axis=-1),
        np.linalg.norm(x.astype(float), axis=-1),
        rtol=3e-3,
    )


def test_half_positions_and_one_for_all() -> None:
    x = vectors(2, 8)
    twice = rotate(rotate(x, [1.5, 2.5]), [1.5, 2.5])
    assert np.allclose(twice, rotate(x, [3, 5]), rtol=1e-13)
    assert (rotate(x, 7) == rotate(x, [7, 7])).all()
    assert (rotate(x[0], 7) == rotate(x, 7)[0]).all()


def test_the_slowest_and_the_fastest_pair_under_ntk() -> None:
    """C6: the usual base slows the slowest pair exactly s times, the article's 1.98 times at 4."""
    d, base, s = 128, 10000.0, 4.0
    usual = frequencies(d, base) / frequencies(d, ntk_base(base, s, d))
    assert np.allclose(usual[[0, -1]], [1, s], rtol=1e-12)
    assert (np.diff(usual) > 0).all()
    article = frequencies(d, base) / frequencies(d, article_base(base, s))
    assert round(float(article[-1]), 2) == 1.98
    assert round(d / (d - 2), 3) == 1.016


def test_keys_turned_with_another_base_are_stale() -> None:
    """C14: after the base changes, scores are right only with keys made anew."""
    q, k = vectors(2, 64)
    new = ntk_base(10000.0, 4, 64)
    right = rotate(q, 900, new) @ rotate(k, 40, new)
    stale = rotate(q, 900, new) @ rotate(k, 40)
    assert abs(stale - right) > 0.1


def llama(head_dim: int) -> Any:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    sizes = {"hidden_size": head_dim, "num_attention_heads": 1, "num_key_value_heads": 1}
    return LlamaRotaryEmbedding(LlamaConfig(head_dim=head_dim, **sizes))


@pytest.mark.parametrize("head_dim", [32, 64, 128])
def test_equal_to_transformers(head_dim: int) -> None:
    """To 1e-6 with its own cosines and sines; below position 1,000 to 1e-4 of a vector's length.

    What is left end to end is its float32 angles: a difference goes with the length of the pair.
    """
    import torch
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    half, places = head_dim // 2, torch.arange(1000)[None]
    x = torch.from_numpy(vectors(1000, head_dim).astype(np.float32))[None, None]
    cos, sin = llama(head_dim)(x, places)
    theirs = apply_rotary_pos_emb(x, x, cos, sin)[0][0, 0].numpy()
    given = turn(x[0, 0].numpy(), cos[0, :, :half].numpy(), sin[0, :, :half].numpy())
    assert np.abs(given - theirs).max() < 1e-6
    apart = rotate(x[0, 0].numpy(), places[0].numpy()) - theirs
    pairs, lengths = (np.hypot(y[:, :half], y[:, half:]) for y in (apart, theirs))
    assert (pairs / lengths).max() < 1e-4
    assert (np.abs(apart).max(axis=1) / np.linalg.norm(theirs, axis=1)).max() < 1e-4


def test_float32_angles_drift() -> None:
    """What transformers' float32 angles cost, and why ours are float64."""
    import torch

    drift = {}
    for position in (10**3, 10**4, 10**5, 10**6):
        places = torch.arange(position - 200, position)[None]
        cos, _ = llama(64)(torch.zeros(1, dtype=torch.float32), places)
        ours, _ = cos_sin(places[0].numpy(), 64)
        drift[position] = float(np.abs(cos[0, :, :32].numpy() - ours).max())
    assert 1e-6 < drift[10**3] < 2e-4
    assert drift[10**6] > 1e-2
    assert sorted(drift.values()) == list(drift.values())


@pytest.mark.parametrize(
    ("x", "positions", "named", "error", "words"),
    [
        (vectors(1, 3), [0], {}, ValueError, "head_dim is 3; pairs need an even number"),
        (vectors(2, 4), [0], {}, ValueError, "1 positions; give one per vector"),
        (vectors(1, 4)[0], [0], {}, ValueError, "give one per vector"),
        (vectors(1, 4), [0], {"base": 0}, ValueError, "base is 0; give a number of 1 or more"),
        (vectors(1, 4), [0], {"base": float("inf")}, ValueError, "base is inf"),
        (vectors(1, 4), [0], {"base": "10"}, TypeError, "base is '10'; give a number"),
        (vectors(1, 4), [0], {"base": None}, TypeError, "base is 'None'"),
        (vectors(1, 4), [0], {"base": 10**400}, TypeError, "give a number of 1 or more"),
        (vectors(1, 4), [[0], [1, 2]], {}, TypeError, "rows of unequal length"),
        (np.ma.array(vectors(1, 4)), [0], {}, TypeError, "x is a MaskedArray"),
        (vectors(1, 4).astype(np.longdouble), [0], {}, TypeError, "give one of float16"),
        (vectors(1, 4), [0], {"pairing": "odd"}, ValueError, "give one of half, interleaved"),
        (vectors(1, 4), [np.inf], {}, ValueError, "not finite"),
        (vectors(1, 4), ["a"], {}, TypeError, "give one row of numbers"),
        (vectors(1, 4), [[0]], {}, TypeError, "give one row of numbers"),
        ([[1.0, 2.0]], [0], {}, TypeError, "x is a list"),
        (np.ones((1, 4), int), [0], {}, TypeError, "x has dtype int64"),
    ],
)
def test_wrong_inputs(x, positions, named, error, words) -> None:
    with pytest.raises(error, match=words):
        rotate(x, positions, **named)


def test_cosines_that_do_not_fit() -> None:
    x = vectors(3, 8)
    cos, sin = cos_sin([0, 1, 2], 8)
    assert (turn(x, cos, sin) == rotate(x, [0, 1, 2])).all()
    for bad in (cos[:, :3], cos[:2], cos.astype(complex), np.ones((3, 4), int), cos[None]):
        with pytest.raises(ValueError, match="give floats that fit the pairs of x"):
            turn(x, bad, sin)
        with pytest.raises(ValueError, match="sin is"):
            turn(x, cos, bad)


def test_negative_positions_turn_back() -> None:
    x = vectors(3, 8)
    assert np.allclose(rotate(rotate(x, [7, 1.5, 3]), [-7, -1.5, -3]), x, rtol=1e-14)


def test_small_floats_are_turned_in_float64() -> None:
    x = vectors(2000, 64).astype(np.float16)
    exact = rotate(x.astype(np.float64), np.arange(2000))
    assert (rotate(x, np.arange(2000)) == exact.astype(np.float16)).all()


def test_wrong_stretches() -> None:
    with pytest.raises(ValueError, match="one pair"):
        ntk_base(10000.0, 4, 2)
    for stretch in (0.5, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="stretch is"):
            ntk_base(10000.0, stretch, 64)
    with pytest.raises(ValueError, match="too large for a float"):
        ntk_base(10000.0, 1e307, 4)
    with pytest.raises(TypeError, match="head_dim is '64'"):
        ntk_base(10000.0, 4, "64")  # type: ignore[arg-type]
    assert article_base(10000.0, 4, alpha=1.0) == 40000.0
    with pytest.raises(TypeError, match="power is 'a'"):
        article_base(10000.0, 4, alpha="a")  # type: ignore[arg-type]
    assert (frequencies(4, 1) == 1).all()
