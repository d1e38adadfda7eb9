"""The law of the summaries: no token twice, no hole; chunks, slack, rewind; NumPy and torch."""

import numpy as np
import pytest
import torch

from ringkv_edu.numpy_summaries import NumpySummaryRing
from ringkv_edu.rewind import RewindError
from ringkv_edu.rope import rotate
from ringkv_edu.summaries import Fold, fold, folded, oracle_summaries, plan, spans
from ringkv_edu.torch_summaries import TorchSummaryRing

KINDS = ["numpy", "torch"]


def make(kind, window, kv_heads, head_dim, **sizes):
    """Give a ring, and a step on arrays (heads, n, head_dim)."""
    if kind == "numpy":
        ring = NumpySummaryRing(window, kv_heads, head_dim, dtype=np.float64, **sizes)
        return ring, ring.step
    ring = TorchSummaryRing(window, 1, kv_heads, head_dim, dtype=torch.float64, **sizes)

    def step(q, k, v):
        given = (torch.from_numpy(np.ascontiguousarray(x))[None] for x in (q, k, v))
        return ring.step(*given)[0].numpy()

    return ring, step


def chunks(total, sizes):
    """Cut a text into chunks whose sizes go round."""
    at = 0
    while at < total:
        for size in sizes:
            yield slice(at, min(at + size, total))
            at += size
            if at >= total:
                return


def text(rng, n, heads=4, kv_heads=2, head_dim=6):
    """Draw queries, keys and values."""
    return [rng.standard_normal((h, n, head_dim)) for h in (heads, kv_heads, kv_heads)]


def test_the_worked_example_of_the_module():
    how, counts, at = Fold(3, 2), (), {}
    for query in range(13):
        if folded(query + 1, 4, 0) > sum(counts):
            counts, _ = fold(counts, how)
        at[query] = [(s[0], s[-1]) for s in spans(counts, 0)]
    assert at[3] == []
    assert at[4] == [(0, 0)]
    assert at[5] == [(0, 1)]
    assert at[9] == [(0, 1), (2, 3), (4, 5)]
    assert at[10] == [(0, 3), (4, 5), (6, 6)]
    assert at[12] == [(0, 5), (6, 7), (8, 8)]


def test_the_neighbours_with_fewest_tokens_merge():
    counts = ()
    for _ in range(13):
        counts, _ = fold(counts, Fold(4, 2, "least"))
    assert counts == (4, 4, 4, 1)
    counts, at = fold((8, 4, 2, 2), Fold(4, 2, "least"))
    assert counts == (8, 4, 4, 1)
    assert at == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("merge", ["oldest", "least"])
@pytest.mark.parametrize("sizes", [(1,), (3, 1, 7), (40,), (150,)])
def test_every_position_is_seen_once(kind, merge, sizes):
    """With equal scores each position weighs 1 / (i + 1), whether seen exactly or in a mean."""
    n = 150
    _ring, step = make(kind, 5, 1, n, summaries=4, block=3, merge=merge, sinks=2, slack=3)
    zero, each = np.zeros((1, n, n)), np.eye(n)[None]
    for some in chunks(n, sizes):
        out = step(zero[:, some], zero[:, some], each[:, some])
        for row, i in enumerate(range(some.start, some.stop)):
            expected = np.where(np.arange(n) <= i, 1 / (i + 1), 0)
            # Members of a mean share its weight evenly, so every position gets the same.
            np.testing.assert_allclose(out[0, row], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("base", [None, 10000.0])
@pytest.mark.parametrize("merge", ["oldest", "least"])
def test_steps_equal_the_oracle(kind, base, merge):
    rng = np.random.default_rng(3)
    q, k, v = text(rng, 70)
    if base:
        q, k = rotate(q, np.arange(70), base), rotate(k, np.arange(70), base)
    how = Fold(3, 4, merge)
    expected = oracle_summaries(q, k, v, 6, how, sinks=1, base=base)
    for sizes in [(1,), (5, 1, 13), (70,)]:
        more = {"summaries": 3, "block": 4, "merge": merge, "sinks": 1, "base": base}
        ring, step = make(kind, 6, 2, 6, **more)
        out = [step(q[:, c], k[:, c], v[:, c]) for c in chunks(70, sizes)]
        np.testing.assert_allclose(np.concatenate(out, 1), expected, atol=1e-10)
        assert int(np.sum(np.asarray(ring.counts))) == folded(70, 6, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_one_token_lose_nothing(kind):
    rng = np.random.default_rng(4)
    q, k, v = text(rng, 40)
    _ring, step = make(kind, 4, 2, 6, summaries=36, block=1)
    got = np.concatenate([step(q[:, c], k[:, c], v[:, c]) for c in chunks(40, (3, 1))], 1)
    everything = oracle_summaries(q, k, v, 40, Fold(1, 1))
    np.testing.assert_allclose(got, everything, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_slack_makes_a_rewind_exact_and_without_it_it_is_refused(kind):
    rng = np.random.default_rng(5)
    q, k, v = text(rng, 60)
    expected = oracle_summaries(q, k, v, 5, Fold(3, 2), sinks=1)
    ring, step = make(kind, 5, 2, 6, summaries=3, block=2, sinks=1, slack=4)
    for c in chunks(50, (7,)):
        step(q[:, c], k[:, c], v[:, c])
        if c.stop > 10:
            draft = slice(c.stop, c.stop + 4)
            step(q[:, draft] + 1, k[:, draft] + 1, v[:, draft] - 1)
            ring.rewind(4)
    out = step(q[:, 50:], k[:, 50:], v[:, 50:])
    np.testing.assert_allclose(out, expected[:, 50:], atol=1e-10)
    before = np.asarray(ring.counts).copy()
    with pytest.raises(RewindError, match="oldest position still held"):
        ring.rewind(5)
    np.testing.assert_array_equal(np.asarray(ring.counts), before)
    ring.rewind(60)
    assert int(np.asarray(ring.counts).sum()) == 0
    again = step(q[:, :20], k[:, :20], v[:, :20])
    np.testing.assert_allclose(again, expected[:, :20], atol=1e-10)


def test_ragged_rows_are_what_they_are_alone():
    rng = np.random.default_rng(6)
    batch, n = 3, 64
    q, k, v = (torch.from_numpy(rng.standard_normal((batch, h, n, 4))) for h in (4, 2, 2))
    sizes = {"kv_heads": 2, "head_dim": 4, "summaries": 3, "block": 2, "sinks": 1, "slack": 2}
    ring = TorchSummaryRing(4, batch, **sizes, dtype=torch.float64)
    alone = [TorchSummaryRing(4, 1, **sizes, dtype=torch.float64) for _ in range(batch)]
    at = [0] * batch
    for turn in range(14):
        width = int(rng.integers(1, 9))
        lengths = [int(rng.integers(0, width + 1)) for _ in range(batch)]
        padding = ["left", "right"][turn % 2]
        given = [torch.full((batch, x.shape[1], width, 4), torch.nan).double() for x in (q, k, v)]
        for row, length in enumerate(lengths):
            some = slice(width - length, None) if padding == "left" else slice(0, length)
            for to, x in zip(given, (q, k, v), strict=True):
                to[row, :, some] = x[row, :, at[row] : at[row] + length]
        out = ring.step(*given, lengths=lengths, padding=padding)
        for row, length in enumerate(lengths):
            if not length:
                assert not out[row].any()
                continue
            some = slice(width - length, None) if padding == "left" else slice(0, length)
            piece = slice(at[row], at[row] + length)
            own = alone[row].step(*(x[row : row + 1, :, piece] for x in (q, k, v)))
            torch.testing.assert_close(out[row, :, some], own[0], atol=1e-10, rtol=0)
            at[row] += length
    one = torch.ones(batch, 4, 1, 4, dtype=torch.float64)
    together = ring.attend(one)
    for row in range(batch):
        torch.testing.assert_close(together[row], alone[row].attend(one[:1])[0])
        assert ring.counts[row].tolist() == alone[row].counts[0].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_comes_back(kind):
    rng = np.random.default_rng(7)
    q, k, v = text(rng, 50)
    ring, step = make(kind, 5, 2, 6, summaries=3, block=2, slack=1)
    step(q[:, :30], k[:, :30], v[:, :30])
    other = type(ring).from_state_dict(ring.state_dict())
    expected = step(q[:, 30:], k[:, 30:], v[:, 30:])
    if kind == "torch":
        given = (torch.from_numpy(np.ascontiguousarray(x[:, 30:]))[None] for x in (q, k, v))
        got = other.step(*given)[0].numpy()
    else:
        got = other.step(q[:, 30:], k[:, 30:], v[:, 30:])
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_a_plan_keeps_what_the_last_query_sees():
    table = plan((4, 2), Fold(3, 2), 1, 5, 5)
    assert table.after == (8, 2, 1)
    assert table.counts[table.kept].tolist() == [8, 2, 1]
    np.testing.assert_allclose(table.weights.sum(1), 1)
