"""`rotate` on tensors: what it gives on arrays, on any device, compiled, for positions of a batch."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.utils._python_dispatch import TorchDispatchMode

import ringkv_edu.rope_torch as module
from ringkv_edu import TorchRing, oracle_attention, rotate

from .devices import needs_cuda

PAIRINGS = ("half", "interleaved")
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def vectors(*shape: int, seed: int = 0, dtype: Any = torch.float32) -> Any:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=made, dtype=torch.float64).to(dtype)


def on_arrays(x: Any, positions: Any, *named: Any) -> Any:
    """Give the NumPy result in float64: exact products of the same stored values."""
    return torch.from_numpy(rotate(x.double().numpy(), np.asarray(positions), *named))


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("base", [10000.0, 500000.0, 1.0])
@pytest.mark.parametrize("far", [0, 10**4, 2**27])
@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_to_arrays(dtype: Any, far: int, base: float, pairing: Any) -> None:
    """Angles and products are float64; what is left is the last rounding to the dtype stored."""
    for head_dim in (2, 8, 64, 128):
        x = vectors(2, 3, 50, head_dim, seed=head_dim, dtype=dtype)
        positions = torch.arange(far, far + 50)
        out, exact = rotate(x, positions, base, pairing), on_arrays(x, positions, base, pairing)
        assert (out.dtype, out.shape) == (dtype, x.shape)
        near = exact.to(dtype)
        if dtype == torch.float64:
            assert (out - exact).abs().max() < 4e-15
        else:  # a tie may fall either way; nearly all are the same bits
            assert (out != near).double().mean() < 1e-3
            up = torch.nextafter(near, torch.full_like(near, torch.inf)) - near
            assert ((out - near).abs() <= up).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_equal_to_arrays_of_the_same_dtype(dtype: Any) -> None:
    x = np.random.default_rng(0).normal(size=(4, 30, 64)).astype(dtype)
    out, expected = rotate(torch.from_numpy(x), range(30)).numpy(), rotate(x, range(30))
    assert out.dtype == expected.dtype
    within = {np.float16: 1e-3, np.float32: 1.2e-7, np.float64: 4e-16}[dtype]
    assert (np.abs(out - expected) <= within * np.maximum(1, np.abs(expected))).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_far_positions_are_exact_in_half_precision(dtype: Any) -> None:
    """bfloat16 has no 257 and float16 no 2049: positions and angles never pass through them."""
    x = vectors(1, 64, dtype=dtype)
    for position in (257, 2049, 65537, 2**24 + 1, 2**27 - 1):
        exact = on_arrays(x, [position])
        for given in ([position], torch.tensor([position]), position):
            out = rotate(x, given)
            assert (out.double() - exact).abs().max() <= exact.abs().max() * torch.finfo(dtype).eps
        neighbour = rotate(x, [position + 1])
        assert (neighbour.double() - exact).abs().max() > 0.05


def test_positions_in_every_form() -> None:
    x = vectors(2, 3, 4, 8)
    expected = rotate(x, [5, 6, 7, 8])
    for form in (
        range(5, 9), np.arange(5, 9), (5, 6, 7, 8), [5.0, 6.0, 7.0, 8.0],
        torch.arange(5, 9), torch.arange(5, 9).int(), torch.arange(5, 9).to(torch.uint8),
        torch.arange(5, 9).double(), torch.arange(5, 9).float(),
        torch.arange(5, 9).expand(3, 4), torch.arange(5, 9).expand(2, 1, 4),
    ):  # fmt: skip
        assert torch.equal(rotate(x, form), expected)
    for one in (7, 7.0, np.int64(7), torch.tensor(7), torch.tensor(7.0)):
        assert torch.equal(rotate(x, one), rotate(x, [7] * 4))
        assert torch.equal(rotate(x[0, 0, 0], one), rotate(x, 7)[0, 0, 0])
    twice = rotate(rotate(x, 1.5), torch.tensor([0.5, 1.5, 2.5, 3.5]))
    assert (twice - rotate(x, [2, 3, 4, 5])).abs().max() < 1e-6
    assert torch.equal(rotate(x, 0), x)
    assert (rotate(rotate(x, -3), 3) - x).abs().max() < 1e-6


def test_positions_of_a_batch() -> None:
    """Each row of a batch at its own position, and each token of each row at its own."""
    x, seen = vectors(3, 2, 1, 8), torch.tensor([0, 9, 2**27])
    out = rotate(x, seen[:, None, None])
    for row in range(3):
        assert torch.equal(out[row], rotate(x[row], [int(seen[row])]))
    x = vectors(3, 2, 5, 8)
    places = seen[:, None, None] + torch.arange(5)
    out = rotate(x, places)
    for row in range(3):
        assert torch.equal(out[row], rotate(x[row], places[row, 0]))


def test_the_input_is_kept_and_may_have_any_layout() -> None:
    x = vectors(8, 5, 3).permute(2, 1, 0)
    before = x.clone()
    assert torch.equal(rotate(x, range(5)), rotate(x.contiguous(), range(5)))
    assert torch.equal(x, before)
    assert rotate(vectors(0, 3, 8), range(3)).shape == (0, 3, 8)
    assert rotate(vectors(2, 0, 8), torch.zeros(0, dtype=torch.int64)).shape == (2, 0, 8)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_gradients_turn_back(pairing: Any) -> None:
    x = vectors(2, 3, 8, dtype=torch.float64).requires_grad_()
    weights = vectors(2, 3, 8, seed=1, dtype=torch.float64)
    (rotate(x, [4, 5, 6], pairing=pairing) * weights).sum().backward()
    back = rotate(weights, [-4, -5, -6], pairing=pairing)
    assert (x.grad - back).abs().max() < 1e-14
    module.TURNS.clear()
    with torch.inference_mode():
        rotate(vectors(1, 8), [1])  # what is kept from here must serve gradients, too
    rotate(vectors(1, 8).requires_grad_(), [1]).sum().backward()


class Waits(TorchDispatchMode):
    """Notes what would make the host wait."""

    seen: tuple[str, ...] = ()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("_local_scalar_dense", "nonzero", "masked_select"):
            self.seen += (name,)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_no_value_is_read(pairing: Any) -> None:
    x = vectors(3, 2, 5, 8).to("meta")
    there = torch.zeros(5, dtype=torch.int64, device="meta")
    with Waits() as waits:
        for positions in (there, there.double(), there[:3, None, None], there[0], range(5), 3, 2.5):
            out = rotate(x, positions, pairing=pairing)
            assert (out.shape, out.device.type) == (x.shape, "meta")
        rotate(vectors(2, 8), torch.tensor([3, 4]))
    assert waits.seen == ()


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_it_compiles_to_one_graph(backend: Any) -> None:
    torch._dynamo.reset()
    module.TURNS.clear()
    counter = backend or CompileCounter()
    turned = torch.compile(
        lambda x, p: rotate(x, p, 500.0, "interleaved"), fullgraph=True, backend=counter
    )
    x = vectors(2, 2, 1, 8, dtype=torch.bfloat16)
    for position in range(8):
        places = torch.tensor([position, 2**27 + position])[:, None, None]
        assert torch.equal(turned(x, places), rotate(x, places, 500.0, "interleaved"))
    if not backend:
        assert counter.frame_count == 1
    fixed = torch.compile(lambda x: rotate(x, 3.5), fullgraph=True, backend=counter)
    assert torch.equal(fixed(x), rotate(x, 3.5))
    torch._dynamo.reset()


def test_a_compiled_decode_step_turns_and_stores() -> None:
    torch._dynamo.reset()
    counter = CompileCounter()
    ring, twin = (TorchRing(4, 2, 1, 8) for _ in range(2))

    def step(ring: TorchRing, q: Any, k: Any, v: Any, lengths: Any) -> Any:
        places = ring.seen[:, None, None]
        return ring.step(rotate(q, places), rotate(k, places), v, lengths)

    turned = torch.compile(step, fullgraph=True, backend=counter)
    for t in range(12):
        given = [vectors(2, heads, 1, 8, seed=3 * t + heads) for heads in (2, 1, 1)]
        lengths = torch.tensor([1, t % 2])
        out = turned(ring, *given, lengths)
        assert (out - step(twin, *given, lengths)).abs().max() < 1e-6
    assert counter.frame_count == 1
    torch._dynamo.reset()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("far", [0, 2**27 - 8])
def test_a_ring_of_turned_keys_is_the_turned_history(far: int, dtype: Any) -> None:
    """Ragged, with sinks, at both ends of the positions: against one turn of the whole text.

    At the far end both texts are moved by the same number, which no score may notice.
    """
    n, window = 14, 5
    q, k, v = (vectors(2, heads, n, 8, seed=heads, dtype=dtype) for heads in (4, 2, 1))
    v = v.expand(-1, 2, -1, -1)
    whole = [x.double().numpy() for x in (q, k, v)]
    ring, start = TorchRing(window, 2, 2, 8, 1, 2, dtype=dtype), 0
    for size in (3, 1, 1, 4, 1, 1, 1, 1, 1):
        part = slice(start, start + size)
        places = far + ring.seen[:, None, None] + torch.arange(size)
        a, b = (rotate(x[:, :, part], places) for x in (q, k))
        out = ring.step(a, b, v[:, :, part])
        start += size
    for row in range(2):
        turned = [rotate(x[row], np.arange(n)) for x in whole[:2]]
        expected = oracle_attention(*turned, whole[2][row], window, 1)
        within = 2e-6 if dtype == torch.float32 else 3e-2
        assert np.abs(out[row].double().numpy() - expected[:, n - 1 :]).max() < within


X = vectors(1, 4)


@pytest.mark.parametrize(
    ("x", "positions", "named", "error", "words"),
    [
        (vectors(1, 3), [0], {}, ValueError, "head_dim is 3; pairs need an even number"),
        (vectors(2, 4), [0], {}, ValueError, "1 positions; give one per vector"),
        (vectors(2, 4), torch.tensor([0]), {}, ValueError, "1 positions; give one per vector"),
        (X[0], [0], {}, ValueError, "give one per vector"),
        (X[0, 0], 0, {}, ValueError, "x is a single number"),
        (X, [0], {"base": 0}, ValueError, "base is 0; give a number of 1 or more"),
        (X, [0], {"base": float("inf")}, ValueError, "base is inf"),
        (X, [0], {"base": "10"}, TypeError, "base is '10'; give a number"),
        (X, [0], {"base": None}, TypeError, "base is 'None'"),
        (X, [[0], [1, 2]], {}, TypeError, "rows of unequal length"),
        (X, [0], {"pairing": "odd"}, ValueError, "give one of half, interleaved"),
        (X, [np.inf], {}, ValueError, "not finite"),
        (X, torch.tensor([torch.nan]), {}, ValueError, "not finite"),
        (X, float("nan"), {}, ValueError, "positions are nan"),
        (X, 10**30, {}, ValueError, "give a finite one"),
        (X, ["a"], {}, TypeError, "give one row of numbers"),
        (X, True, {}, TypeError, "give one row of numbers"),
        (X, [[0]], {}, TypeError, "give one row of numbers"),
        (X, None, {}, TypeError, "give one row of numbers"),
        (X, torch.tensor([True]), {}, TypeError, r"positions are torch\.bool; give whole numbers"),
        (X, torch.tensor([1.0]).half(), {}, TypeError, r"positions are torch\.float16; .*float64"),
        (X, torch.tensor([1.0]).bfloat16(), {}, TypeError, r"positions are torch\.bfloat16"),
        (X, torch.tensor([0], device="meta"), {}, TypeError, "positions are on meta and x on cpu"),
        (X, torch.zeros(2, 1).long(), {}, ValueError, r"positions \(2, 1\); give positions \(n,\)"),
        (vectors(2, 3, 4), torch.zeros(3, 1).long(), {}, ValueError, r"broadcasts to \(2, 3\)"),
        (vectors(2, 3, 4), torch.zeros(1, 2, 3).long(), {}, ValueError, r"broadcasts to \(2, 3\)"),
        (X.long(), [0], {}, TypeError, r"x has dtype torch\.int64; give one of torch\.float16"),
    ],
)
def test_wrong_inputs(x: Any, positions: Any, named: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        rotate(x, positions, **named)


def test_torch_is_loaded_only_for_tensors() -> None:
    code = (
        "import sys, numpy as np; from ringkv_edu.rope import rotate; rotate(np.ones((1, 4)), [3]);"
        "assert not {'torch', 'ringkv_edu.rope_torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@needs_cuda
@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_on_cuda_and_without_waiting(dtype: Any) -> None:
    x, places = vectors(2, 3, 5, 64, dtype=dtype), torch.arange(2**27, 2**27 + 5)
    there, where = x.cuda(), places.cuda()
    rotate(there, where)  # sends the turns of each pair there, once
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        out = [rotate(there, where), rotate(there, 7), rotate(there, places)]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for given, turned in zip((places, 7, places), out):
        expected = rotate(x, given)
        apart = (turned.cpu().double() - expected.double()).abs().max()
        assert apart <= 4 * torch.finfo(dtype).eps * expected.abs().max()
