"""What lesson 03 starts from agrees with the package's own ring and oracle."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ringkv_edu.checks.lesson_03_mask_mistakes import chunk_mask
from ringkv_edu.figures.chunk_mask import chunk_data
from ringkv_edu.figures.rewind_strip import rewind_moments
from ringkv_edu.figures.trim_strip import trim_moments
from ringkv_edu.given_attention import attend_at, attention
from ringkv_edu.given_chunks import TwoCounters, place
from ringkv_edu.given_numpy import RingArrays, numbers
from ringkv_edu.numpy_ring import NumpyRing
from ringkv_edu.visibility import oracle_attention


@pytest.mark.parametrize(("window", "sinks"), [(1, 0), (4, 0), (3, 2)])
def test_attention_by_position_is_the_oracle(window: int, sinks: int) -> None:
    rng = Random(3)
    q, k, v = numbers(rng, 4, 9, 3), numbers(rng, 2, 9, 3), numbers(rng, 2, 9, 3)
    order = rng.sample(range(9), 9)  # the keys may lie in any order
    expected = oracle_attention(q, k, v, window, sinks)
    got = attend_at(range(9), q, order, k[:, order], v[:, order], window, sinks)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    masked = attention(q, k, v, chunk_mask(np.array([], int), 0, 9, window, sinks))
    np.testing.assert_allclose(masked, expected, rtol=1e-12)


def test_a_row_that_sees_nothing_is_nan_without_a_warning(recwarn) -> None:
    q, k = np.ones((1, 2, 2)), np.ones((1, 1, 2))
    out = attend_at([0, 5], q, [5], k, k, 4, 0)
    assert np.isnan(out[0, 0]).all()
    assert out[0, 1].tolist() == [1, 1]
    assert not recwarn.list
    with pytest.raises(ValueError, match="1 positions for 2 queries"):
        attend_at([0], q, [5], k, k, 4, 0)


def test_place_writes_as_the_ring_does() -> None:
    for seed in range(30):
        rng = Random(seed)
        window, sinks, slack = rng.randrange(1, 5), rng.randrange(3), rng.randrange(3)
        slow = RingArrays(window, 2, 2, sinks, slack)
        ring = NumpyRing(window, 2, 2, sinks, slack, np.float64)
        for _ in range(4):
            n = rng.randrange(1, 9)
            k, v = numbers(rng, 2, n, 2), numbers(rng, 2, n, 2)
            place(slow, k, v)
            ring.append(k, v)
            for name in ("seen", "positions", "keys", "values"):
                np.testing.assert_array_equal(getattr(slow, name), getattr(ring, name))


def test_the_toy_fails_as_the_report_says() -> None:
    cache = TwoCounters(4)
    for token in range(10):
        cache.append(token)
    assert (cache.slots, cache.offset, cache.index) == ([8, 9, 6, 7], 10, 2)
    cache.offset, cache.index = 8, 0  # what trim(2) did
    cache.append(8)
    assert cache.held() == [8, 9, 6, 7]  # 9 should be gone, and 5 is lost


def test_the_pictures_show_what_the_lesson_says() -> None:
    data = chunk_data()
    assert data["held"].tolist() == [8, 9, 6, 7, 10, 11, 12]
    seen = [data["held"][row].tolist() for row in data["mask"]]
    assert seen == [[8, 9, 7, 10], [8, 9, 10, 11], [9, 10, 11, 12]]
    assert data["after"].tolist() == [12, 9, 10, 11]
    assert [slots for _, slots, _, _ in rewind_moments()] == [
        [5, 6, 2, 3, 4], [5, 6, 7, 8, 4], [5, 6, -1, -1, 4], [5, 6, -1, -1, 4], [5, 6, 7, -1, 4],
    ]  # fmt: skip
    assert [said for *_, said in rewind_moments()][2:4] == [
        "needs 4 to 6: all there", "needs 3 to 5, 3 is gone: refused",
    ]  # fmt: skip


def test_the_picture_of_the_trim_shows_what_the_lesson_says() -> None:
    moments = trim_moments()
    assert [moment.slots for moment in moments] == [[8, 9, 6, 7]] * 3
    assert [(moment.offset, moment.index) for moment in moments] == [(10, 2), (8, 0), (9, 1)]
    assert [moment.stale for moment in moments] == [[], [0, 1], [1]]
    assert [moment.missing for moment in moments] == [[], [4, 5], [5]]
    assert [moment.new for moment in moments] == [[], [], [0]]
