"""A captured step does what the ring's own step does, whatever happens between replays.

A graph on a CUDA device is tested there. Here a recording of every operation stands for it: what
it replays are the same operations, on the same addresses, with the constants of the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import ringkv_edu.torch_attention as kernels
import ringkv_edu.torch_inputs as inputs
import ringkv_edu.torch_ring as module
from ringkv_edu import NumpyRing, TorchRing
from ringkv_edu.capture import CapturedStep

from .devices import CUDA, needs_cuda

WINDOW = 4


class Recording(TorchDispatchMode):
    """Notes every operation; ``replay`` does them again and puts the results where they lay."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in ("_local_scalar_dense", "nonzero", "masked_select"):
            raise RuntimeError("operation not permitted when stream is capturing")
        out = func(*args, **(kwargs or {}))
        self.steps.append((func, args, kwargs or {}, out))
        return out

    def replay(self) -> None:
        for func, args, kwargs, out in self.steps:
            again = tree_leaves(func(*args, **kwargs))
            for old, new in zip(tree_leaves(out), again, strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


class OnCpu(CapturedStep):
    """A captured step whose graph is a recording; as in a real capture, nothing is done by it."""

    device = "cpu"
    asides = 0

    @contextmanager
    def _aside(self) -> Iterator[None]:
        self.asides += 1
        yield

    def _capture(self, run: Callable[[], Any]) -> Any:
        own = tensors(self.ring)
        before = [x.clone() for x in own]
        with pytest.MonkeyPatch.context() as patch, Recording() as recording:
            patch.setattr(kernels, "_numpy_may", lambda *x: False)  # NumPy's work is not seen
            for place in (module, inputs):
                patch.setattr(place, "hidden", lambda x: True)
            out = run()
        for x, was in zip(own, before):
            x.copy_(was)
        return recording.replay, out


def tensors(ring: TorchRing) -> list[Any]:
    return [ring.keys, ring.values, ring.positions, ring._seen]


def make(device: str, kind: Any = TorchRing, **sizes: Any) -> Any:
    return kind(
        **{"window": WINDOW, "batch": 2, "kv_heads": 2, "head_dim": 8, "device": device} | sizes
    )


def tokens(n: int, seed: int, ring: TorchRing) -> Any:
    made = torch.Generator().manual_seed(seed)
    drawn = (torch.randn(2, heads, n, 8, generator=made) for heads in (4, 2, 2))
    return [x.to(ring.keys.device, ring.keys.dtype) for x in drawn]


def same(ring: TorchRing, other: TorchRing) -> bool:
    return all(torch.equal(a, b) for a, b in zip(tensors(ring), tensors(other)))


WITHIN = {torch.float32: 1e-6, torch.float16: 2e-3, torch.float64: 1e-14}
each_kind = pytest.mark.parametrize(
    ("capture", "dtype"),
    [
        pytest.param(OnCpu, torch.float32, id="a recording, float32"),
        pytest.param(OnCpu, torch.float16, id="a recording, float16"),
        pytest.param(CapturedStep, torch.float32, id="a graph, float32", marks=CUDA),
        pytest.param(CapturedStep, torch.float16, id="a graph, float16", marks=CUDA),
    ],
)
SIZES = pytest.mark.parametrize("sizes", [{}, {"sinks": 1, "slack": 2}], ids=str)


class Pair:
    """A captured ring and one that steps as it is."""

    def __init__(self, capture: Any, dtype: Any, sizes: Any, seen: int = 0, **named: Any) -> None:
        self.ring = make(capture.device, dtype=dtype, **sizes)
        if seen:
            self.ring.append(*tokens(seen, 99, self.ring)[1:])
        self.twin = self.ring.select([0, 1])
        before = [x.clone() for x in tensors(self.ring)]
        self.step = capture(self.ring, 4, **named)
        assert all(torch.equal(a, b) for a, b in zip(before, tensors(self.ring)))
        self.within, self.t = WITHIN[dtype], 0

    def live(self, steps: int = 1, lengths: Any = None) -> None:
        for _ in range(steps):
            given = tokens(1, self.t, self.ring)
            out = self.step(*given) if lengths is None else self.step(*given, lengths)
            expected = self.twin.step(*given, lengths)
            assert (out - expected).abs().max() <= self.within
            assert same(self.ring, self.twin)
            self.t += 1

    def both(self, call: Any) -> None:
        call(self.ring)
        call(self.twin)
        assert same(self.ring, self.twin)


@each_kind
@SIZES
@pytest.mark.parametrize("seen", [0, 3, 11])
def test_replays_are_steps(capture, dtype, sizes, seen) -> None:
    """From empty, filling and full, for three rounds of the ring."""
    Pair(capture, dtype, sizes, seen).live(3 * 7)


@each_kind
@SIZES
def test_a_replay_sees_what_happened_to_the_ring(capture, dtype, sizes) -> None:
    pair = Pair(capture, dtype, sizes)
    pair.live(3)
    pair.both(lambda ring: ring.rewind(2))
    pair.live(6)
    if sizes:
        pair.both(lambda ring: ring.rewind(torch.tensor([2, 1], device=ring.keys.device)))
        pair.live(2)
    pair.both(lambda ring: ring.reset([1]))
    pair.live(3)
    pair.both(lambda ring: ring.reorder([1, 1]))
    pair.live(5)
    pair.both(lambda ring: ring.append(*tokens(5, 50, ring)[1:], lengths=[2, 5]))
    pair.live(2)
    pair.both(lambda ring: ring.step(*tokens(3, 51, ring)))
    pair.live(2)
    pair.both(lambda ring: ring.reset())
    pair.live(2 * WINDOW)


@each_kind
@SIZES
def test_rows_may_rest(capture, dtype, sizes) -> None:
    pair = Pair(capture, dtype, sizes, ragged=True)
    for t in range(4 * WINDOW):
        lengths = [[1, 1], [0, 1], [1, 0], [0, 0], None][t % 5]
        given = lengths
        if lengths is not None and t % 2:
            given = torch.tensor(lengths, device=pair.ring.keys.device)
        pair.live(1, given)
        if t == 9:
            pair.both(lambda ring: ring.reset(rows=0))


@each_kind
def test_the_result_is_overwritten_unless_copied(capture, dtype) -> None:
    ring = make(capture.device, dtype=dtype)
    step = capture(ring, 4)
    first = step(*tokens(1, 1, ring))
    kept = step(*tokens(1, 2, ring), copy=True)
    was = kept.clone()
    third = step(*tokens(1, 3, ring))
    assert first.data_ptr() == third.data_ptr() != kept.data_ptr()
    assert torch.equal(kept, was)
    assert not torch.equal(third, kept)
    assert not third.requires_grad
    given = [x.requires_grad_() for x in tokens(1, 4, ring)]
    assert not step(*given).requires_grad


@each_kind
def test_no_address_changes(capture, dtype) -> None:
    ring = make(capture.device, dtype=dtype, sinks=1, slack=2)
    step = capture(ring, 4, ragged=True)

    def addresses() -> list[int]:
        used = [*tensors(ring), ring._first, step._q, step._k, step._v, step._lengths, step._out]
        return [x.data_ptr() for x in used]

    before = addresses()
    for t in range(3 * ring.slots):
        step(*tokens(1, t, ring), [t % 2, 1])
        ring.step(*tokens(1, t, ring))
        assert addresses() == before
    ring.rewind(1)
    ring.reorder([1, 0])
    ring.append(*tokens(9, 0, ring)[1:])
    ring.reset([0])
    ring.reset()
    assert addresses() == before


@each_kind
def test_it_may_be_made_and_called_in_inference_mode(capture, dtype) -> None:
    with torch.inference_mode():
        pair = Pair(capture, dtype, {})
        pair.live(2)
    pair.live(2)
    with torch.inference_mode():
        pair.live(WINDOW)


@each_kind
def test_the_scale(capture, dtype) -> None:
    ring = make(capture.device, dtype=dtype)
    twin, step = ring.select([0, 1]), capture(ring, 4, scale=0.1)
    for t in range(WINDOW):
        given = tokens(1, t, ring)
        assert (step(*given) - twin.step(*given, scale=0.1)).abs().max() <= WITHIN[dtype]


@each_kind
def test_what_a_captured_step_refuses(capture, dtype) -> None:
    ring = make(capture.device, dtype=dtype)
    q, k, v = tokens(1, 0, ring)
    step = capture(ring, 4)
    before = [x.clone() for x in tensors(ring)]
    two = [torch.cat([x, x], 2) for x in (q, k, v)]
    wrong: list[tuple[Any, type[Exception], str]] = [
        ((q[:, :2], k, v), ValueError, "captured for 4 heads and one token a row"),
        ((q, *two[1:]), ValueError, "captured for 4 heads and one token a row"),
        (tuple(two), ValueError, "q has shape"),
        ((q, k, v[:1]), ValueError, r"v \(1, 2, 1, 8\)"),
        ((q.double(), k, v), TypeError, "q has dtype torch.float64"),
        ((q.to("meta"), k, v), TypeError, "q is on meta"),
        ((q, k, v, [1, 1]), ValueError, "captured without lengths; capture it with ragged=True"),
    ]
    for given, error, words in wrong:
        with pytest.raises(error, match=words):
            step(*given)
    ragged = capture(ring, 4, ragged=True)
    with pytest.raises(ValueError, match="lengths are"):
        ragged(q, k, v, [2, 0])
    assert all(torch.equal(a, b) for a, b in zip(before, tensors(ring)))


def test_a_ring_that_cannot_be_captured() -> None:
    with pytest.raises(ValueError, match="the ring is on cpu, and only work on cuda can be"):
        CapturedStep(make("cpu"), 4)
    with pytest.raises(ValueError, match="the ring is on meta"):
        CapturedStep(make("meta"), 4)
    with pytest.raises(TypeError, match="ring is a NumpyRing; give a TorchRing"):
        CapturedStep(NumpyRing(4, 2, 8), 4)  # type: ignore[arg-type]
    for heads, error, words in (
        (3, ValueError, "multiple of the ring's 2"),
        (0, ValueError, "heads is 0"),
    ):
        with pytest.raises(error, match=words):
            OnCpu(make("cpu"), heads)
    with pytest.raises(TypeError, match=r"heads is 4\.0"):
        OnCpu(make("cpu"), 4.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="warmup is 0"):
        OnCpu(make("cpu"), 4, warmup=0)
    with pytest.raises(ValueError, match="scale is nan"):
        OnCpu(make("cpu"), 4, scale=float("nan"))


def test_a_capture_gives_up_what_the_host_knows_and_a_copy_knows_again() -> None:
    ring = make("cpu")
    ring.append(*tokens(9, 0, ring)[1:])
    assert ring._bounds.bare()
    OnCpu(ring, 4)
    assert not ring._bounds.bare()
    ring.reset()
    assert ring._bounds.top == ring.slots  # a replay may write without a word
    assert ring.select([0, 1])._bounds.known


def test_the_warm_up_runs_aside_as_often_as_asked() -> None:
    ring, steps = make("cpu"), []

    class Counts(OnCpu):
        def _run(self, ring: TorchRing) -> Any:
            steps.append(ring)
            return super()._run(ring)

    step = Counts(ring, 4, warmup=2)
    assert step.asides == 1
    assert [x is ring for x in steps] == [False, False, True]
    assert not any(x._bounds.known for x in steps)


class HostCursor(TorchRing):
    """A culprit: its next slot is a number of the host."""

    def _slots(self, positions: Any) -> Any:
        self.at = getattr(self, "at", -1) + 1
        return torch.full_like(positions, self.at % self.slots)


class Waits(TorchRing):
    """A culprit: it looks at its cursor."""

    def _next(self, n: int) -> Any:
        self._seen[0].item()
        return super()._next(n)


def test_the_recording_catches_a_cursor_on_the_host() -> None:
    ring = make("cpu", HostCursor)
    twin, step = make("cpu"), OnCpu(ring, 4)
    apart = 0.0
    for t in range(2 * WINDOW):
        given = tokens(1, t, ring)
        apart = max(apart, float((step(*given) - twin.step(*given)).abs().max()))
    assert apart > 0.01


def test_the_recording_refuses_a_step_that_waits() -> None:
    with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
        OnCpu(make("cpu", Waits), 4)


@needs_cuda
def test_a_ring_on_another_stream_and_a_checking_ring() -> None:
    """What is checked by reading is checked outside the graph."""
    ring = make("cuda", check=True)
    step = CapturedStep(ring, 4, ragged=True)
    given = tokens(1, 0, ring)
    with pytest.raises(ValueError, match="lengths are"):
        step(*given, torch.tensor([2, 0], device="cuda"))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step(*given)
    torch.cuda.synchronize()
    assert ring.seen.tolist() == [1, 1]
