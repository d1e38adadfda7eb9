"""Tiles and pages give what the oracle gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringkv_edu.paged import OutOfPages, PagedSequence, PagePool, pages_needed
from ringkv_edu.paged_serving import PrefixIndex, Request, Server, fragmentation
from ringkv_edu.tiled import shared_tiles, tiled_attention
from ringkv_edu.visibility import oracle_attention


def numbers(seed: int, heads: int, kv_heads: int, n: int, d: int = 4) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(h, n, d)) for h in (heads, kv_heads, kv_heads))


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 40), window=st.one_of(st.none(), st.integers(1, 45)),
    sinks=st.integers(0, 5), tile=st.tuples(st.integers(1, 16), st.integers(1, 16)),
    group=st.integers(1, 3), seed=st.integers(0, 99),
)  # fmt: skip
def test_tiles_are_the_plain_softmax(
    n: int, window: int | None, sinks: int, tile: tuple[int, int], group: int, seed: int
) -> None:
    q, k, v = numbers(seed, 2 * group, 2, n)
    out, work = tiled_attention(30 * q, k, v, window, sinks, tile)
    np.testing.assert_allclose(out, oracle_attention(30 * q, k, v, window or n, sinks), atol=1e-12)
    assert 0 < work.computed <= work.tiles


def test_a_window_computes_a_band_of_tiles() -> None:
    q, k, v = numbers(0, 1, 1, 64)
    _, causal = tiled_attention(q, k, v, None, tile=(8, 8))
    _, band = tiled_attention(q, k, v, 8, tile=(8, 8))
    assert (causal.computed, causal.tiles) == (36, 64)
    assert band.computed == 15  # its own tile and the one before
    _, longer = tiled_attention(*numbers(0, 1, 1, 128), None, tile=(8, 8))
    assert longer.held == causal.held  # memory does not grow with the text
    assert longer.computed == 136  # the arithmetic does, by its square


def test_tiles_that_share_a_memory() -> None:
    assert shared_tiles(164 * 1024, 128, 128) == 5
    assert shared_tiles(164 * 1024, 256, 256) == 1


@pytest.mark.parametrize("tile", [(0, 4), (4, -1)])
def test_tiles_that_cannot_be(tile: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="tile is"):
        tiled_attention(*numbers(0, 1, 1, 4), tile=tile)
    with pytest.raises(ValueError, match="heads that share"):
        tiled_attention(*numbers(0, 3, 2, 4))


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 40), window=st.one_of(st.none(), st.integers(1, 20)),
    size=st.integers(1, 7), seed=st.integers(0, 99),
)  # fmt: skip
def test_pages_give_what_the_oracle_gives(n: int, window: int | None, size: int, seed: int) -> None:
    q, k, v = numbers(seed, 4, 2, n)
    most = pages_needed(window, size) if window else n
    pool = PagePool(min(most, -(-n // size)) if window else n, size, 2, 4, np.float64)
    sequence = PagedSequence(pool, window)
    wanted = oracle_attention(q, k, v, window or n)
    for t in range(n):
        sequence.append(k[:, t], v[:, t])
        np.testing.assert_allclose(sequence.attend(q[:, t]), wanted[:, t], atol=1e-12)
    if window:
        assert len(sequence.table) <= pages_needed(window, size)


def test_a_window_needs_one_page_more_than_its_tokens_fill() -> None:
    used = []
    sequence = PagedSequence(PagePool(9, 4, 1, 2), window=8)
    for _ in range(40):
        sequence.append(np.zeros((1, 2)), np.zeros((1, 2)))
        used.append(len(sequence.table))
    assert max(used) == pages_needed(8, 4) == 3  # 8 tokens fill two pages, and lie in up to three


def test_forks_share_until_one_writes() -> None:
    q, k, v = numbers(1, 1, 1, 12)
    pool = PagePool(9, 4, 1, 4, np.float64)
    first = PagedSequence(pool)
    for t in range(6):
        first.append(k[:, t], v[:, t])
    second = first.fork()
    assert pool.free == 7
    second.append(k[:, 9], v[:, 9])
    assert pool.free == 6  # the half-full page was copied, the whole one is still shared
    assert first.table[0] == second.table[0]
    assert first.table[1] != second.table[1]
    first.append(k[:, 6], v[:, 6])
    assert pool.free == 6  # alone on its page now: nothing to copy
    np.testing.assert_allclose(
        first.attend(q[:, 6]), oracle_attention(q[:, :7], k[:, :7], v[:, :7], 12)[:, 6]
    )
    first.release()
    second.release()
    assert pool.free == 9


def test_a_full_pool_changes_nothing() -> None:
    pool = PagePool(1, 2, 1, 2)
    sequence = PagedSequence(pool)
    for _ in range(2):
        sequence.append(np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(OutOfPages, match="all 1 pages"):
        sequence.append(np.ones((1, 2)), np.ones((1, 2)))
    assert (sequence.seen, len(sequence.table), pool.free) == (2, 1, 0)


def test_a_shared_prefix_and_the_window_that_needs_its_end() -> None:
    q, k, v = numbers(2, 1, 1, 20)
    pool, tokens = PagePool(20, 4, 1, 4, np.float64), list(range(100, 120))
    index, first = PrefixIndex(pool), PagedSequence(pool)
    for t in range(14):
        first.append(k[:, t], v[:, t])
    index.keep(tokens, first)
    second = index.start([*tokens[:13], 1, 2, 3, 4])
    assert (second.seen, len(second.table)) == (12, 3)  # whole pages that agree
    other = index.start([7, *tokens])
    assert other.seen == 0
    windowed = index.start(tokens, window=4)
    assert (windowed.seen, sorted(windowed.table)) == (12, [2])  # the last 3 tokens are enough
    for t in range(12, 20):
        windowed.append(k[:, t], v[:, t])
        wanted = oracle_attention(q, k, v, 4)[:, t]
        np.testing.assert_allclose(windowed.attend(q[:, t]), wanted, atol=1e-12)
    sliding = PagedSequence(pool, window=4)
    for t in range(14):
        sliding.append(k[:, t], v[:, t])
    index.forget()
    index.keep(tokens, sliding)  # pages 0 and 1 are gone: no prefix without a window
    assert index.start(tokens).seen == 0
    assert index.start(tokens, window=4).seen == 12
    assert index.start(tokens, window=6).seen == 0  # it would need page 1


def test_requests_come_and_go_each_step() -> None:
    lengths = {"a": 9, "b": 3, "c": 5}
    pool = PagePool(4, 4, 1, 4)
    requests = [Request(name, *(np.zeros((1, n, 4)) for _ in "kv")) for name, n in lengths.items()]
    server = Server(pool, waiting=requests)
    ended = [server.step() for _ in range(30)]
    order = [name for names in ended for name in names]
    assert sorted(order) == ["a", "b", "c"]
    assert order[0] == "b"
    assert pool.free == 4


def test_a_server_that_is_too_small_for_all_at_once_still_ends_them() -> None:
    pool = PagePool(3, 2, 1, 2)
    server = Server(pool, waiting=[
        Request(name, np.zeros((1, 6, 2)), np.zeros((1, 6, 2))) for name in "abc"])  # fmt: skip
    done = [name for _ in range(200) for name in server.step()]
    assert sorted(done) == ["a", "b", "c"]


def test_fragmentation() -> None:
    found = fragmentation([100, 40, 7], longest=512, page_size=16)
    assert (found.stored, found.reserved, found.paged) == (147, 1536, 176)
    with pytest.raises(ValueError, match="give some from 1"):
        fragmentation([600], 512, 16)
