from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringkv_edu.visibility import (
    in_reach,
    oracle_attention,
    slot_of,
    slots_of,
    visibility_mask,
    visible,
)

SIZES = {"window": st.integers(1, 8), "sinks": st.integers(0, 4)}


@pytest.mark.parametrize(
    ("query", "window", "sinks", "seen"),
    [
        (5, 4, 0, [2, 3, 4, 5]),
        (2, 4, 0, [0, 1, 2]),
        (0, 1, 0, [0]),
        (9, 1, 0, [9]),
        (9, 4, 2, [0, 1, 6, 7, 8, 9]),
        (1, 4, 3, [0, 1]),
        (4, 3, 3, [0, 1, 2, 3, 4]),
    ],
)
def test_the_rule_in_literals(query: int, window: int, sinks: int, seen: list[int]) -> None:
    assert [j for j in range(query + 5) if visible(query, j, window, sinks)] == seen


def test_a_negative_position_is_never_visible() -> None:
    assert not visible(0, -1, window=4)
    assert not visible(0, -1, window=4, sinks=2)
    assert not visibility_mask([0, 3], [-1, -1], window=9, sinks=3).any()


@given(
    queries=st.lists(st.integers(0, 30), max_size=6),
    keys=st.lists(st.integers(-1, 30), max_size=6),
    **SIZES,
)
def test_the_mask_is_the_rule(queries: list[int], keys: list[int], window: int, sinks: int) -> None:
    mask = visibility_mask(queries, keys, window, sinks)
    assert mask.shape == (len(queries), len(keys))
    assert mask.dtype == np.bool_
    for row, query in enumerate(queries):
        assert mask[row].tolist() == [visible(query, key, window, sinks) for key in keys]


@given(ring=st.integers(1, 9), sinks=st.integers(0, 4), start=st.integers(0, 50))
def test_tokens_that_a_ring_holds_have_slots_of_their_own(
    ring: int, sinks: int, start: int
) -> None:
    held = [*range(sinks), *range(sinks + start, sinks + start + ring)]
    slots = {slot_of(position, ring, sinks) for position in held}
    assert slots == set(range(sinks + ring))


def test_slots_in_literals() -> None:
    assert [slot_of(p, 4) for p in range(10)] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert [slot_of(p, 3, sinks=2) for p in range(9)] == [0, 1, 2, 3, 4, 2, 3, 4, 2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: visible(0, 0, window=0), "window is 0"),
        (lambda: visible(0, 0, window=1, sinks=-1), "sinks is -1"),
        (lambda: slot_of(-1, 4), "position is -1"),
        (lambda: slot_of(0, 0), "ring is 0"),
        (lambda: visibility_mask([[0]], [0], 1), "one row of positions"),
        (lambda: oracle_attention(np.ones((2, 3, 4)), np.ones((2, 2, 4)), np.ones((2, 2, 4)), 2),
         "one q for each k"),
        (lambda: oracle_attention(np.ones((3, 2, 4)), np.ones((2, 2, 4)), np.ones((2, 2, 4)), 2),
         "multiple of kv_heads"),
        (lambda: oracle_attention(np.ones((2, 4)), np.ones((2, 4)), np.ones((2, 4)), 2), "three axes"),
    ],
)  # fmt: skip
def test_wrong_calls_say_what_was_given(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_positions_must_be_integers() -> None:
    with pytest.raises(TypeError, match="float64"):
        visibility_mask([0.5], [0], window=1)


def test_the_oracle_sees_only_the_window() -> None:
    """One-hot values read the weights: query 9 of W=4 gives weight to 6..9 and to nothing else."""
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 1, 10, 3))
    out = oracle_attention(q, k, np.eye(10)[None], window=4)
    assert out.shape == (1, 10, 10)
    assert (out[0, 9, :6] == 0).all()
    assert (out[0, 9, 6:] > 0).all()
    assert out.sum(axis=-1) == pytest.approx(np.ones((1, 10)))


def test_the_oracle_against_a_worked_value() -> None:
    """Two keys with scores 0 and log 3 have weights 1/4 and 3/4."""
    k = np.array([[[0.0], [np.log(3)]]])
    out = oracle_attention(np.ones((1, 2, 1)), k, np.array([[[4.0], [8.0]]]), window=2, scale=1.0)
    assert out[0, :, 0].tolist() == pytest.approx([4.0, 7.0])


def test_the_oracle_groups_query_heads() -> None:
    """With one-hot values that name the key head, query heads 0 1 2 read 0, and 3 4 5 read 1."""
    values = np.stack([np.full((4, 2), [1.0, 0.0]), np.full((4, 2), [0.0, 1.0])])
    out = oracle_attention(np.ones((6, 4, 2)), np.ones((2, 4, 2)), values, window=3)
    assert out[:, -1].tolist() == [[1, 0]] * 3 + [[0, 1]] * 3


def test_slots_of_many_positions() -> None:
    for ring in range(1, 6):
        for sinks in range(4):
            many = slots_of(np.arange(40), ring, sinks).tolist()
            assert many == [slot_of(position, ring, sinks) for position in range(40)]


def test_in_reach_is_what_any_of_the_queries_sees() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        window, sinks, first, n = (int(x) for x in rng.integers([1, 0, 0, 1], [6, 4, 20, 9]))
        queries = np.arange(first, first + n)
        keys = rng.permutation(np.concatenate([np.arange(first + n + 3), np.full(4, -1)]))
        mask = visibility_mask(queries, keys, window, sinks)
        assert (in_reach(queries, keys, window, sinks) == mask.any(axis=0)).all()


def test_the_oracle_can_leave_out_the_first_rows() -> None:
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 9, 4))
    whole = oracle_attention(q, k, v, 3, 1)
    for first in (0, 4, 9):
        assert (oracle_attention(q, k, v, 3, 1, first=first) == whole[:, first:]).all()
