"""A decode step can be compiled and captured: one graph, no waiting, nothing as large as K or V."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import ringkv_edu.torch_attention as kernels
import ringkv_edu.torch_host as host
from ringkv_edu import TorchRing
from ringkv_edu.torch_host import HostStep

from .devices import needs_cuda

WINDOW = 5
SIZES = [
    pytest.param({}, id="plain"),
    pytest.param({"sinks": 2, "slack": 3}, id="sinks and slack"),
]


@pytest.fixture(autouse=True)
def fresh() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def make(**sizes: Any) -> TorchRing:
    return TorchRing(**{"window": WINDOW, "batch": 2, "kv_heads": 2, "head_dim": 8} | sizes)


def tokens(n: int, seed: int, **kind: Any) -> tuple[Any, Any, Any]:
    made = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(2, heads, n, 8, generator=made) for heads in (4, 2, 2))
    return q.to(**kind), k.to(**kind), v.to(**kind)


def same(ring: TorchRing, other: TorchRing) -> bool:
    pairs = zip(
        (ring.keys, ring.values, ring.positions, ring.seen),
        (other.keys, other.values, other.positions, other.seen),
    )
    return all(torch.equal(a, b) for a, b in pairs)


def compiled(function: Any, backend: Any = None) -> tuple[Any, Any]:
    counter = CompileCounter() if backend is None else backend
    return torch.compile(function, fullgraph=True, backend=counter), counter


# One graph, however the ring is reached.

RING: TorchRing


def through_a_global(q: Any, k: Any, v: Any) -> Any:
    return RING.step(q, k, v)


def through_an_argument(ring: TorchRing, q: Any, k: Any, v: Any) -> Any:
    return ring.step(q, k, v)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("style", ["global", "argument", "closure"])
def test_a_compiled_step_is_one_graph(style: str, sizes: Any) -> None:
    """Over the ring that fills, is full and has gone round: the same graph, and eager's outputs."""
    global RING
    ring, eager = make(**sizes), make(**sizes)
    if style == "global":
        RING = ring
        step, counter = compiled(through_a_global)
    elif style == "argument":
        inner, counter = compiled(through_an_argument)

        def step(*given: Any) -> Any:
            return inner(ring, *given)
    else:
        step, counter = compiled(lambda q, k, v: ring.step(q, k, v))
    for t in range(3 * ring.slots):
        given = tokens(1, t)
        assert (step(*given) - eager.step(*given)).abs().max() < 1e-6
        assert same(ring, eager)
        assert counter.frame_count == 1


def test_one_graph_serves_two_rings_of_one_kind() -> None:
    step, counter = compiled(through_an_argument)
    rings, eager = [make(), make()], [make(), make()]
    for t in range(3 * WINDOW):
        for ring, twin in zip(rings, eager):
            given = tokens(1, t)
            assert (step(ring, *given) - twin.step(*given)).abs().max() < 1e-6
    assert counter.frame_count == 1


@pytest.mark.parametrize("backend", [None, "aot_eager"])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_compiled_ragged_step_is_one_graph(sizes: Any, backend: Any) -> None:
    ring, eager = make(**sizes), make(**sizes)
    step, counter = compiled(lambda q, k, v, lengths: ring.step(q, k, v, lengths), backend)
    made = torch.Generator().manual_seed(0)
    for t in range(4 * ring.slots):
        lengths = torch.randint(0, 2, (2,), generator=made)
        out = step(*tokens(1, t), lengths)
        assert (out - eager.step(*tokens(1, t), lengths)).abs().max() < 1e-6
        assert same(ring, eager)
    assert backend or counter.frame_count == 1


@pytest.mark.parametrize(
    ("n", "backend"), [(1, None), (3, None), (17, None), (3, "aot_eager"), (9, "aot_eager")]
)
def test_chunks_and_everything_else_compile_to_one_graph_each(n: int, backend: Any) -> None:
    """Append, chunk step, attend, rewind, reset, reorder: each again and again, as eager."""
    ring, eager = make(sinks=1, slack=2), make(sinks=1, slack=2)
    calls = {
        "append": lambda r, x: r.append(x[1], x[2]),
        "ragged append": lambda r, x: r.append(x[1], x[2], x[3], "left"),
        "step": lambda r, x: r.step(x[0], x[1], x[2]),
        "ragged step": lambda r, x: r.step(x[0], x[1], x[2], x[3], padding="left"),
        "attend": lambda r, x: r.attend(x[0][:, :, -1:]),
        "rewind": lambda r, x: r.rewind(x[4]),
        "rewind by 1": lambda r, x: r.rewind(1),
        "reset of a row": lambda r, x: r.reset(x[5]),
        "reorder": lambda r, x: r.reorder(x[6]),
        "reset": lambda r, x: r.reset(),
    }
    ways = {name: compiled(call, backend) for name, call in calls.items()}
    made = torch.Generator().manual_seed(1)
    for turn in range(4):
        for name, (call, _) in ways.items():
            if name == "rewind":
                given = [*tokens(9, turn)]  # so that every row is able to take two back
                ring.append(*given[1:])
                eager.append(*given[1:])
            draw = [torch.randint(0, most, (2,), generator=made) for most in (n + 1, 2)]
            x = [*tokens(n, turn), *draw, torch.tensor([turn % 2]), torch.tensor([1, turn % 2])]
            out, expected = call(ring, x), calls[name](eager, x)
            assert expected is None or (out - expected).abs().max() < 1e-6
            assert same(ring, eager), name
    if backend is None:
        assert {name: way[1].frame_count for name, way in ways.items()} == dict.fromkeys(calls, 1)


def test_a_compiled_rewind_masks_what_it_cannot_check() -> None:
    """Nothing is read while compiling, so nothing is refused: a row never falls below 0."""
    ring = make()
    ring.append(*tokens(9, 0)[1:])
    rewind, _ = compiled(lambda n: ring.rewind(n))
    rewind(torch.tensor([2, 50]))
    assert ring.positions.tolist() == [[5, 6, -1, -1, 4], [-1] * 5]
    assert ring.seen.tolist() == [7, 0]


def test_compiled_and_eager_steps_may_take_turns() -> None:
    """What the host knew before a compiled step is no longer used after one."""
    ring, twin = make(), make()
    step, _ = compiled(lambda q, k, v: ring.step(q, k, v))
    attend, _ = compiled(lambda q: ring.attend(q))

    def live(t: int, way: Any) -> None:
        given = tokens(1, t)
        assert (way(*given) - twin.step(*given)).abs().max() < 1e-6
        assert (attend(given[0]) - ring.attend(given[0])).abs().max() < 1e-6
        assert same(ring, twin)

    for t in range(WINDOW + 1):
        live(t, ring.step)
    for t in range(3):
        live(t, step)
    for t in range(2):
        live(t, ring.step)
    for r in (ring, twin):
        r.reset([1])
    for t in range(2):
        live(t, step)
    for r in (ring, twin):
        r.reset()
    for t in range(2):
        live(t, ring.step)
    for r in (ring, twin):
        r.rewind(1)
    for t in range(2 * WINDOW):
        live(t, ring.step if t % 3 else step)
    clean = make()  # a copy starts afresh: there the host may know again
    copy = TorchRing.from_state_dict(ring.state_dict())
    assert copy._bounds.known is True
    assert clean._bounds.known is True
    assert (copy.attend(tokens(1, 0)[0]) - twin.attend(tokens(1, 0)[0])).abs().max() < 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("several", [1, 2])
def test_a_traced_step_goes_on(several: int, threads: Any) -> None:
    threads(several)
    ring, twin = make(), make()
    given = tokens(1, 0)
    step = torch.jit.trace(lambda q, k, v: ring.step(q, k, v), given, check_trace=False)
    twin.step(*given)
    for t in range(2 * WINDOW):
        assert (step(*tokens(1, t)) - twin.step(*tokens(1, t))).abs().max() < 1e-6
        assert same(ring, twin)


# Spies.


class Spy(TorchDispatchMode):
    """Notes what would make the host wait, what goes to another device, what is newly allocated."""

    WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "equal", "is_nonzero")

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.moves, self.largest = list[str](), list[str](), 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        if name in self.WAITS or (
            name == "index" and any(x.dtype in (torch.bool, torch.uint8) for x in given[1:])
        ):
            self.waits.append(name)
        out = func(*args, **kwargs)
        made = [x for x in tree_leaves(out) if isinstance(x, torch.Tensor)]
        if name in ("_to_copy", "copy_") and len({x.device for x in given + made}) > 1:
            self.moves.append(name)
        old = {x.untyped_storage()._cdata for x in given}
        for x in made:
            if x.untyped_storage()._cdata not in old:
                self.largest = max(self.largest, x.untyped_storage().nbytes())
        return out


BIG: dict[str, Any] = {"window": 512, "batch": 2, "kv_heads": 4, "head_dim": 64}


def big(heads: int, n: int = 1, **kind: Any) -> Any:
    return torch.randn(2, heads, n, 64).to(**kind)


def kernel(q: Any, k: Any, v: Any, mask: Any = None, scale: Any = None) -> Any:
    """Stand for an accelerator's own kernel: the meta device would spell it out in products."""
    assert (q.shape[:2], q.shape[3], k.shape) == (k.shape[:2], k.shape[3], v.shape)
    assert mask is None or torch.broadcast_shapes(mask.shape, (*q.shape[:3], k.shape[2]))
    return torch.empty_like(q)


def spied(ring: TorchRing, heads: int, lengths: Any = None, steps: int = 3) -> Spy:
    kind = {"dtype": ring.keys.dtype, "device": ring.keys.device}
    given = big(heads, **kind), big(4, **kind), big(4, **kind)
    with pytest.MonkeyPatch.context() as patch, Spy() as spy:
        if ring.keys.is_meta:
            patch.setattr(kernels.functional, "scaled_dot_product_attention", kernel)
        for _ in range(steps):
            ring.step(*given, lengths=lengths)
            ring.attend(given[0])
    return spy


def expect_clean(spy: Spy, ring: TorchRing) -> None:
    assert spy.waits == []
    assert spy.moves == []
    assert spy.largest < ring.keys.nbytes / 4


@pytest.fixture
def threads() -> Any:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


STATES = [
    pytest.param(0, id="empty"),
    pytest.param(100, id="filling"),
    pytest.param(700, id="full"),
]


@pytest.mark.parametrize("seen", STATES)
@pytest.mark.parametrize(
    "sizes", [{}, {"sinks": 4}, {"slack": 8}, {"sinks": 3, "slack": 5}], ids=str
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_decode_step_waits_for_nothing_and_makes_nothing_large(
    device, sizes, seen, threads, monkeypatch
) -> None:
    for several, small in ((1, 0), (1, 2**30), (2, 0), (2, 2**30)):
        threads(several)
        monkeypatch.setattr(kernels, "SMALL", small)
        for heads, dtype in ((4, torch.float32), (16, torch.float32), (16, torch.float16)):
            ring = TorchRing(**BIG | sizes, dtype=dtype, device=device)
            if seen:
                ring.append(*[big(4, seen, dtype=dtype, device=device)] * 2)
            expect_clean(spied(ring, heads), ring)


@pytest.mark.parametrize("seen", STATES)
@pytest.mark.parametrize("sizes", [{}, {"sinks": 3, "slack": 5}], ids=str)
def test_a_ragged_decode_step_waits_for_nothing(sizes: Any, seen: int) -> None:
    """Lengths that live beside the ring are never looked at: the meta device has no values."""
    ring = TorchRing(**BIG | sizes, device="meta")
    if seen:
        ring.append(*[big(4, seen, device="meta")] * 2, torch.tensor([seen, 3], device="meta"))
    expect_clean(spied(ring, 16, torch.tensor([1, 0], device="meta")), ring)


def test_a_ragged_decode_step_makes_nothing_large_on_the_cpu() -> None:
    ring = TorchRing(**BIG)
    ring.append(*[big(4, 700)] * 2)
    assert spied(ring, 16, torch.tensor([1, 0])).largest < ring.keys.nbytes / 4


WAYS = ["chosen", "_fused", "_tiled", "_read_ahead", "_across", "_by_keys"]


def use(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let steps on the host go one way."""
    if way != "chosen":
        for place in (host, kernels):
            monkeypatch.setattr(place, "way_of", lambda *asked, **named: getattr(kernels, way))


def profiled(ring: TorchRing, heads: int) -> tuple[set[str], int]:
    """Give what a step calls while nobody watches by a mode, and the most it allocates at once."""
    x, k = big(heads), big(4)
    ring.step(x, k, k)
    with torch.profiler.profile(profile_memory=True) as found:
        ring.step(x, k, k)
    events = found.events()
    return {e.name for e in events}, max((e.self_cpu_memory_usage for e in events), default=0)


@pytest.mark.parametrize("seen", STATES)
@pytest.mark.parametrize("several", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_the_shorter_ways_wait_for_nothing_and_make_nothing_large(
    seen, several, way, threads, monkeypatch
) -> None:
    threads(several)
    use(way, monkeypatch)
    for heads in (4, 16):
        ring = TorchRing(**BIG)
        if seen:
            ring.append(*[big(4, seen)] * 2)
        names, largest = profiled(ring, heads)
        assert "aten::_local_scalar_dense" not in names
        assert largest < ring.keys.nbytes / 4


def test_the_profiler_catches_a_planted_culprit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostStep, "may", lambda *given: False)  # it would pass the culprits by
    assert "aten::_local_scalar_dense" in profiled(Asks(**BIG), 4)[0]
    ring = Grows(**BIG)
    assert profiled(ring, 4)[1] >= ring.keys.nbytes / 4


def peak_of(call: Any) -> int:
    call()
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("seen", STATES)
@pytest.mark.parametrize("way", ["_tiled", "_read_ahead"])
def test_products_in_numpy_make_nothing_large(
    seen: int, way: str, threads: Any, monkeypatch: Any
) -> None:
    threads(1)
    use(way, monkeypatch)
    for heads in (4, 16):
        ring = TorchRing(**BIG, sinks=1, slack=1)
        if seen:
            ring.append(*[big(4, seen)] * 2)
        q, k = big(heads), big(4)
        assert peak_of(lambda ring=ring, q=q, k=k: ring.step(q, k, k)) < ring.keys.nbytes / 4


class Asks(TorchRing):
    """A culprit: its cursor is a number of the host."""

    def _one(self, q: Any, alive: Any, scale: float) -> Any:
        return super()._one(q, alive, scale) + 0 * self._seen[0].item()


class Branches(TorchRing):
    """A culprit: it looks whether the ring is full."""

    def _one(self, q: Any, alive: Any, scale: float) -> Any:
        return super()._one(q, alive, scale) if (self.positions >= 0).all() else q * 0


class Picks(TorchRing):
    """A culprit: the number of visible keys decides a shape."""

    def _one(self, q: Any, alive: Any, scale: float) -> Any:
        self.keys[:, :, self.positions[0] >= 0].sum()
        return super()._one(q, alive, scale)


class Grows(TorchRing):
    """A culprit: it puts the ring in order before it attends."""

    def _one(self, q: Any, alive: Any, scale: float) -> Any:
        torch.cat([self.keys[:, :, 1:], self.keys[:, :, :1]], 2)
        return super()._one(q, alive, scale)


class Expands(TorchRing):
    """A culprit: it repeats keys for each query head."""

    def _one(self, q: Any, alive: Any, scale: float) -> Any:
        self.keys[:, :1].repeat_interleave(2, 1)
        return super()._one(q, alive, scale)


class Leaves(TorchRing):
    """A culprit: its cursors go to another device."""

    def _one(self, q: Any, alive: Any, scale: float) -> Any:
        self._seen.to("meta", copy=True)
        return super()._one(q, alive, scale)


class CopiesInNumpy(TorchRing):
    """A culprit that no dispatch sees."""

    def step(self, *given: Any, **more: Any) -> Any:
        self.keys.numpy().copy()
        return super().step(*given, **more)


@pytest.mark.parametrize(
    ("culprit", "caught"),
    [
        (Asks, "_local_scalar_dense"),
        (Branches, "_local_scalar_dense"),
        (Picks, "index"),
        (Grows, "storage"),
        (Expands, "storage"),
        (Leaves, "_to_copy"),
    ],
)
def test_the_spy_catches_a_planted_culprit(culprit: Any, caught: str) -> None:
    ring = culprit(**BIG)
    ring.append(*[big(4, 700)] * 2)
    spy = spied(ring, 4)
    seen = spy.waits + spy.moves + ["storage"] * (spy.largest >= ring.keys.nbytes / 4)
    assert caught in seen
    with pytest.raises(AssertionError):
        expect_clean(spy, ring)


@pytest.mark.parametrize("culprit", [Asks, Branches, Picks])
def test_the_meta_device_catches_a_planted_culprit(culprit: Any) -> None:
    ring = culprit(**BIG, device="meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        spied(ring, 4)


def test_the_memory_trace_catches_a_planted_culprit(threads: Any) -> None:
    threads(1)
    ring, x = CopiesInNumpy(**BIG), big(4)
    assert peak_of(lambda: ring.step(x, x, x)) >= ring.keys.nbytes / 4


# No value decides a shape, and none is read: the meta device has none.


@pytest.mark.parametrize("n", [1, 3, 9, 300])
@pytest.mark.parametrize("sizes", SIZES)
def test_everything_runs_without_values(sizes: Any, n: int) -> None:
    ring = make(**sizes, device="meta", check=True)
    q, k, v = tokens(n, 0, device="meta")
    there = torch.tensor([1, 0], device="meta")
    with Spy() as spy:
        for lengths in (None, there):
            for side in ("left", "right"):
                ring.append(k, v, lengths, side)
                assert ring.step(q, k, v, lengths, side).shape == q.shape
                assert ring.attend(q[:, :, :1]).shape == (2, 4, 1, 8)
            for back in (0, there):
                ring.rewind(back)
            for rows in (None, there[:1]):
                ring.reset(rows)
            ring.reorder(there)
            assert ring.select(there).positions.shape == ring.positions.shape
            assert TorchRing.stack([ring, ring]).keys.is_meta
            assert ring.state_dict()["keys"].is_meta
            assert ring.size.is_meta
    assert spy.waits == spy.moves == []


def test_what_the_host_knows_is_handed_over_without_waiting() -> None:
    """Lists and CPU tensors beside a ring elsewhere: a transfer, and no look back."""
    ring = make(device="meta")
    q, k, v = tokens(1, 0, device="meta")
    with Spy() as spy:
        ring.step(q, k, v, [1, 0])
        ring.step(q, k, v, torch.tensor([1, 0]))
        ring.reset([1])
        ring.rewind(torch.tensor([1, 0]))
    assert spy.moves == ["_to_copy"] * 4
    assert set(spy.waits) <= {"_local_scalar_dense"}  # of the numbers given, in CPU memory


@needs_cuda
@pytest.mark.parametrize("sizes", [{}, {"sinks": 3, "slack": 5}], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_no_step_waits_for_the_device(sizes: Any, dtype: Any) -> None:
    ring = TorchRing(**BIG | sizes, dtype=dtype, device="cuda")
    q, k, v = (big(heads, dtype=dtype, device="cuda") for heads in (16, 4, 4))
    lengths, rows = torch.tensor([1, 0], device="cuda"), torch.tensor([1], device="cuda")
    chunk = [big(heads, 700, dtype=dtype, device="cuda") for heads in (16, 4, 4)]
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(3):
            ring.step(q, k, v)
            ring.step(q, k, v, lengths)
            ring.step(q, k, v, [1, 0])
            ring.attend(q)
            ring.append(*chunk[1:])
            ring.step(*chunk)
            ring.rewind(1)
            ring.rewind(lengths)
            ring.reset(rows)
            ring.reorder([1, 0])
            ring.reset()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@needs_cuda
@pytest.mark.parametrize("seen", STATES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_step_on_cuda_allocates_nothing_large(dtype: Any, seen: int) -> None:
    ring = TorchRing(**BIG | {"window": 8192}, dtype=dtype, device="cuda")
    if seen:
        ring.append(*[big(4, 16 * seen, dtype=dtype, device="cuda")] * 2)
    q, k, v = (big(heads, dtype=dtype, device="cuda") for heads in (16, 4, 4))
    for call in (lambda: ring.step(q, k, v), lambda: ring.attend(q)):
        call()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        torch.cuda.synchronize()
        assert torch.cuda.max_memory_allocated() - before < ring.keys.nbytes / 4
