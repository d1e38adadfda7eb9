"""Summary rings as objects: wrong calls, dtypes, copies, rows, states; nothing is lost."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from ringkv_edu import NumpySummaryRing, RewindError, TorchSummaryRing

from .devices import needs_cuda


def ring(**sizes: Any) -> TorchSummaryRing:
    """Make a small ring."""
    return TorchSummaryRing(4, sizes.pop("batch", 1), 2, 8, **sizes)


def tokens(n: int, batch: int = 1, **more: Any) -> list[torch.Tensor]:
    """Draw queries, keys and values."""
    return [torch.randn(batch, heads, n, 8, **more) for heads in (4, 2, 2)]


@pytest.mark.parametrize("make", [ring, lambda **sizes: NumpySummaryRing(4, 2, 8, **sizes)])
@pytest.mark.parametrize(
    ("sizes", "error", "words"),
    [
        ({"summaries": 0}, ValueError, "summaries is 0; give 1 or more"),
        ({"summaries": 2.5}, TypeError, "summaries is 2.5; give a whole number"),
        ({"summaries": 10**13}, ValueError, "give smaller sizes"),
        ({"block": 0}, ValueError, "block is 0; give 1 or more"),
        ({"merge": "newest"}, ValueError, "merge is 'newest'; give one of oldest, least"),
        ({"base": -1.0}, ValueError, "base is -1.0; give a number of 1 or more"),
        ({"base": "x"}, TypeError, "base is 'x'; give a number"),
        ({"sinks": -1}, ValueError, "sinks is -1"),
    ],
)
def test_sizes_that_cannot_be(make: Any, sizes: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        make(**sizes)


def test_a_wrong_step_changes_nothing() -> None:
    one = ring(slack=2)
    one.step(*tokens(20))
    before = one.state_dict()
    q, k, v = tokens(2)
    wrong: list[tuple[Any, Any]] = [
        ((q[:, :, :1], k, v), {}),
        ((q, k.double(), v), {}),
        ((q, k[:, :1], v), {}),
        ((q, k, v), {"lengths": [3]}),
        ((q, k, v), {"padding": "middle"}),
        ((q, k, v), {"scale": "x"}),
    ]
    for given, named in wrong:
        with pytest.raises((ValueError, TypeError)):
            one.step(*given, **named)
    for n in (-1, 3, 99):
        with pytest.raises(ValueError):
            one.rewind(n)
    for name, x in one.state_dict().items():
        if isinstance(x, torch.Tensor):
            assert torch.equal(x, before[name])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_means_are_float32_whatever_the_ring_stores(dtype: torch.dtype) -> None:
    """In float16 a mean of 1.0 and then 3,000 times 2.0 would freeze on its way."""
    one = ring(summaries=1, block=1, dtype=dtype)
    first = torch.ones(1, 2, 1, 8, dtype=dtype)
    one.append(first, first)
    more = torch.full((1, 2, 3000, 8), 2.0, dtype=dtype)
    for part in more.split(100, 2):
        one.append(part, part)
    assert one.summary_keys.dtype == torch.float32
    right = (1 + 2 * 2996) / 2997
    np.testing.assert_allclose(one.summary_keys.numpy(), right, rtol=1e-6)
    assert one.counts.tolist() == [[2997]]
    assert one.centres.tolist() == [[1498.0]]
    assert one.step(*tokens(1, dtype=dtype)).dtype == dtype


def test_copies_go_their_own_ways() -> None:
    one = ring(batch=2, sinks=1)
    one.step(*tokens(20, 2))
    others = [
        copy.deepcopy(one),
        pickle.loads(pickle.dumps(one)),
        one.select([0, 1]),
        TorchSummaryRing.stack([one.select([0]), one.select([1])]),
        TorchSummaryRing.from_state_dict(one.state_dict()),
    ]
    new = tokens(9, 2)
    expected = one.step(*new)
    for other in others:
        assert other.seen.tolist() == [20, 20]
        torch.testing.assert_close(other.step(*new), expected)
        assert other.counts.tolist() == one.counts.tolist()


def test_no_gradients_no_autocast_and_inference_mode() -> None:
    with torch.inference_mode():
        one = ring()
        one.step(*tokens(20))
    q, k, v = tokens(1)
    assert not one.step(q.requires_grad_(), k.requires_grad_(), v).requires_grad
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert one.step(*tokens(1)).dtype == torch.float32


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "counts",
            torch.zeros(1, 8, dtype=torch.int64),
            "never hold that once 16 tokens have left",
        ),
        ("counts", torch.tensor([[1, 15, 0, 0, 0, 0, 0, 0]]), "never hold that"),
        ("counts", torch.tensor([16]), "give a tensor"),
        ("counts", "abc", "give a tensor"),
        ("merge", "x", "merge is 'x'"),
        ("summary_keys", torch.zeros(1, 2, 8, 4), "these sizes make them"),
        ("summary_keys", None, "these sizes make them"),
        ("summaries", 3, "these sizes make them|never hold that"),
    ],
)
def test_states_that_no_ring_has(name: str, value: Any, words: str) -> None:
    one = ring()
    one.step(*tokens(20))
    with pytest.raises(ValueError, match=words):
        TorchSummaryRing.from_state_dict(one.state_dict() | {name: value})
    lacking = {n: x for n, x in one.state_dict().items() if n != name}
    with pytest.raises(ValueError, match=f"the state lacks {name}"):
        TorchSummaryRing.from_state_dict(lacking)


def test_rows_that_start_again() -> None:
    one = ring(batch=2, slack=1)
    one.step(*tokens(20, 2))
    one.reset([0])
    assert one.seen.tolist() == [0, 20]
    assert one.counts.sum(1).tolist() == [0, 15]
    fresh, new = ring(slack=1), tokens(12, 2)
    out = one.step(*new)
    torch.testing.assert_close(out[:1], fresh.step(*(x[:1] for x in new)))
    with pytest.raises(RewindError):
        one.rewind([1, 2])
    one.rewind([12, 1])
    assert one.seen.tolist() == [0, 31]
    assert one.counts.sum(1).tolist() == [0, 27]


@needs_cuda
def test_the_same_on_a_gpu() -> None:
    here, there = ring(batch=2, sinks=1), ring(batch=2, sinks=1, device="cuda")
    for n, lengths in ((30, None), (1, None), (5, [2, 5]), (1, None)):
        new = tokens(n, 2)
        expected = here.step(*new, lengths=lengths)
        out = there.step(*(x.cuda() for x in new), lengths=lengths)
        torch.testing.assert_close(out.cpu(), expected, atol=1e-5, rtol=1e-4)
    assert there.counts.tolist() == here.counts.tolist()
