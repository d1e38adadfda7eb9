"""NumpyRing: what it promises beyond the cases and the random lives."""

from __future__ import annotations

import ast
import inspect
import tracemalloc
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import ringkv_edu.numpy_ring as module
from ringkv_edu import NumpyRing, RewindError, oracle_attention, slot_of
from ringkv_edu.pure import RingKVBuffer
from ringkv_edu.pure import attend as pure_attend


def tokens(
    n: int, heads: int = 1, head_dim: int = 4, seed: int = 0, dtype: Any = np.float32
) -> Any:
    return np.random.default_rng(seed).normal(size=(heads, n, head_dim)).astype(dtype)


def ring_after(n: int, **sizes: Any) -> NumpyRing:
    ring = NumpyRing(**{"window": 4, "kv_heads": 1, "head_dim": 4} | sizes)
    if n:
        k = tokens(n, ring.keys.shape[0], ring.keys.shape[2], dtype=ring.keys.dtype)
        ring.append(k, k)
    return ring


def snapshot(ring: NumpyRing) -> list[Any]:
    return [ring.keys.tobytes(), ring.values.tobytes(), ring.positions.tolist(), ring.seen]


def test_the_worked_example() -> None:
    assert ring_after(10).positions.tolist() == [8, 9, 6, 7]
    assert ring_after(3).positions.tolist() == [0, 1, 2, -1]
    assert ring_after(9, sinks=2, slack=1).positions.tolist() == [0, 1, 7, 8, 4, 5, 6]


def test_counters() -> None:
    ring = ring_after(10, sinks=1, slack=2)
    assert (ring.window, ring.sinks, ring.slack, ring.slots) == (4, 1, 2, 7)
    assert (ring.seen, ring.size) == (10, 7)
    ring.rewind(2)
    assert (ring.seen, ring.size) == (8, 5)
    ring.reset()
    assert (ring.seen, ring.size) == (0, 0)


@pytest.mark.parametrize(
    "sizes", [{"window": 1}, {"window": 4}, {"window": 3, "sinks": 2, "slack": 3}]
)
def test_every_position_lies_in_its_slot(sizes: dict[str, int]) -> None:
    ring = ring_after(0, **sizes)
    for n in (1, 1, 5, 2, 17, 1, 3):
        ring.append(tokens(n), tokens(n))
        for slot, position in enumerate(ring.positions.tolist()):
            assert position < 0 or slot_of(position, ring.window + ring.slack, ring.sinks) == slot


def test_the_storage_is_made_once() -> None:
    for window in (1, 5):
        ring = ring_after(0, window=window, kv_heads=2, sinks=1, slack=1, dtype=np.float16)
        slots = window + 2
        assert ring.nbytes == 2 * 2 * slots * 4 * 2 == ring.keys.nbytes + ring.values.nbytes
        assert ring.keys.base is ring.values.base is not None  # one block holds both
        same = ring.keys, ring.values, ring.positions, ring.nbytes
        for n in (1, 1, 9, 3):
            ring.step(tokens(n, 4, dtype=np.float16), *[tokens(n, 2, dtype=np.float16)] * 2)
        ring.rewind(1)
        ring.reset()
        assert all(a is b for a, b in zip(same[:3], (ring.keys, ring.values, ring.positions)))
        assert ring.nbytes == same[3]


class Spy(np.ndarray):
    """Notes which slots are written."""

    writes: list[int]

    def __setitem__(self, key: Any, value: Any) -> None:
        slots = key[1] if isinstance(key, tuple) else key
        self.writes += np.atleast_1d(slots).tolist()
        super().__setitem__(key, value)


@pytest.mark.parametrize("name", ["keys", "values", "positions"])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 6, 23])
def test_a_write_touches_each_slot_at_most_once(n: int, name: str) -> None:
    for before in range(8):
        ring = ring_after(before, sinks=1, slack=1)
        spy = getattr(ring, name).view(Spy)
        spy.writes = []
        setattr(ring, name, spy)
        ring.append(tokens(n), tokens(n))
        stays = {p for p in range(before, before + n) if p < 1 or p >= before + n - 5}
        assert len(set(spy.writes)) == len(spy.writes) == len(stays)


def peak_of(call: Any) -> int:
    call()
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("seen", [3, 2000, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_decode_step_copies_no_keys_or_values(dtype: Any, seen: int) -> None:
    ring = NumpyRing(4096, 8, 64, dtype=dtype)
    k = tokens(seen, 8, 64, dtype=dtype)
    ring.append(k, k)
    q, k = tokens(1, 32, 64, dtype=dtype), tokens(1, 8, 64, dtype=dtype)
    scores = ring.keys.nbytes // 16  # bytes of one (heads, slots) array: K alone is 16 of these
    assert peak_of(lambda: ring.step(q, k, k)) < 5 * scores


def test_a_long_prefill_needs_little_memory() -> None:
    """Scores of (n, n) would take 64 MiB a head here; blocks of rows take far less."""
    q = tokens(4096, 1, 4)
    ring = NumpyRing(16, 1, 4)
    assert peak_of(lambda: ring.step(q, q, q)) < 2**22


def test_many_query_rows_attend_in_blocks() -> None:
    n = 3 * module.BLOCK + 5
    q, k, v = tokens(n, 4, seed=1), tokens(n, 2, seed=2), tokens(n, 2, seed=3)
    ring = NumpyRing(7, 2, 4, sinks=2)
    assert np.abs(ring.step(q, k, v) - oracle_attention(q, k, v, 7, 2)).max() < 2e-5


@pytest.mark.parametrize(
    ("dtype", "within"), [(np.float16, 3e-3), (np.float32, 2e-6), (np.float64, 1e-14)]
)
def test_dtypes(dtype: Any, within: float) -> None:
    q, k, v = (tokens(12, heads, seed=s, dtype=dtype) for heads, s in ((2, 1), (1, 2), (1, 3)))
    ring = NumpyRing(4, 1, 4, dtype=dtype)
    out = np.concatenate(
        [
            ring.step(q[:, :7], k[:, :7], v[:, :7]),
            *(ring.step(q[:, [t]], k[:, [t]], v[:, [t]]) for t in range(7, 12)),
        ],
        axis=1,
    )
    assert out.dtype == ring.keys.dtype == dtype
    assert np.abs(out - oracle_attention(q, k, v, 4)).max() < within


def test_the_scale() -> None:
    q, k, v = tokens(6, 2, seed=1), tokens(6, 1, seed=2), tokens(6, 1, seed=3)
    expected = oracle_attention(q, k, v, 4, scale=0.25)
    ring = NumpyRing(4, 1, 4)
    assert np.abs(ring.step(q, k, v, scale=0.25) - expected).max() < 2e-6
    assert np.abs(ring.attend(q[:, -1], scale=0.25) - expected[:, -1]).max() < 2e-6
    ring.reset()
    for t in range(6):
        out = ring.step(q[:, [t]], k[:, [t]], v[:, [t]], scale=np.float32(0.25))
        assert np.abs(out[:, 0] - expected[:, t]).max() < 2e-6


def test_scores_too_large_for_exp() -> None:
    k = 1000 * tokens(5)
    assert np.isfinite(NumpyRing(4, 1, 4).step(k, k, k)).all()


def test_it_agrees_with_the_ring_of_stage_1() -> None:
    q, k, v = (tokens(11, seed=s, dtype=np.float64) for s in (1, 2, 3))
    old, ring = RingKVBuffer(4), NumpyRing(4, 1, 4, dtype=np.float64)
    for t in range(11):
        old.append(k[0, t].tolist(), v[0, t].tolist(), t)
        out = ring.step(q[:, [t]], k[:, [t]], v[:, [t]])
        assert ring.positions.tolist() == old.positions
        assert np.allclose(out[0, 0], pure_attend(q[0, t].tolist(), old), rtol=1e-12)


def test_nothing_is_stored_by_reference() -> None:
    ring, k = NumpyRing(4, 1, 4), tokens(2)
    kept = k.copy()
    ring.append(k, k)
    k[:] = 9
    assert (ring.keys[:, :2] == kept).all()


def test_an_empty_ring_gives_zeros() -> None:
    ring = ring_after(0)
    assert (ring.attend(tokens(2)[0]) == 0).all()
    ring.append(tokens(3), tokens(3))
    ring.rewind(3)
    assert (ring.attend(tokens(2)[0]) == 0).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("bad", ["k", "v"])
@pytest.mark.parametrize("at", [0, 4, 9])
def test_a_value_that_is_not_finite_harms_nothing_once_it_is_gone(bad, at, value) -> None:
    """One chunk or token by token: every query that does not see it gets what the oracle gives."""
    q, k, v = tokens(10, 2, seed=1), tokens(10, 1, seed=2), tokens(10, 1, seed=3)
    clean = oracle_attention(q, k, v, 3)
    {"k": k, "v": v}[bad][:, at] = value
    free = [t for t in range(10) if not at <= t < at + 3]
    for sizes in ([10], [1] * 10, [5, 5], [2, 6, 2]):
        ring, start = NumpyRing(3, 1, 4), 0
        for n in sizes:
            with np.errstate(invalid="ignore"):
                out = ring.step(*(x[:, start : start + n] for x in (q, k, v)))
            rows = [t for t in free if start <= t < start + n]
            assert np.abs(out[:, [t - start for t in rows]] - clean[:, rows]).max(initial=0) < 2e-6
            start += n


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@pytest.mark.parametrize("taken_back", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_poisoned_hole_harms_nothing(n: int, taken_back: int, poison: float) -> None:
    left = 11 - taken_back
    q, k, v = (np.concatenate([x[:, :left], x[:, 11:]], axis=1) for x in HISTORY)
    ring = NumpyRing(4, 1, 4, slack=3)
    ring.append(HISTORY[1][:, :11], HISTORY[2][:, :11])
    ring.rewind(taken_back)
    expected = oracle_attention(q, k, v, 4)
    for start in range(left, left + 10 // n * n, n):
        for array in (ring.keys, ring.values):
            array[:, ring.positions < 0] = poison
        part = slice(start, start + n)
        out = ring.step(q[:, part], k[:, part], v[:, part])
        assert np.abs(out - expected[:, part]).max() < 2e-6


HISTORY = tokens(21, 2, seed=1), tokens(21, 1, seed=2), tokens(21, 1, seed=3)


def test_taken_back_means_forgotten() -> None:
    ring = ring_after(11, slack=3)
    ring.rewind(3)
    gone = ring.positions < 0
    assert gone.sum() == 3
    assert (ring.keys[:, gone] == 0).all()
    assert (ring.values[:, gone] == 0).all()


def test_a_refused_rewind_names_the_oldest_and_changes_nothing() -> None:
    ring = ring_after(10, slack=4)
    before = snapshot(ring)
    with pytest.raises(RewindError, match=r"needs position 1.*oldest position still held is 2"):
        ring.rewind(5)
    assert snapshot(ring) == before
    with pytest.raises(RewindError, match="only 10 tokens"):
        ring.rewind(11)
    with pytest.raises(ValueError, match="n is -1"):
        ring.rewind(-1)
    with pytest.raises(TypeError, match=r"n is 1\.5"):
        ring.rewind(1.5)  # type: ignore[arg-type]
    assert snapshot(ring) == before


def test_a_refusal_with_sinks_names_the_oldest_behind_them() -> None:
    ring = ring_after(10, sinks=2, slack=1)
    with pytest.raises(RewindError, match="oldest position still held behind the sinks is 5"):
        ring.rewind(2)


def test_rewinds_into_the_sinks() -> None:
    ring = ring_after(3, sinks=2)
    ring.rewind(2)
    assert ring.positions.tolist() == [0, -1, -1, -1, -1, -1]
    ring = ring_after(20, sinks=2)
    with pytest.raises(RewindError, match="needs position 2"):
        ring.rewind(17)
    ring.rewind(19)  # a text of one token needs sink 0 alone, and that is held
    assert ring.positions.tolist() == [0, -1, -1, -1, -1, -1]
    ring.rewind(1)
    assert ring.size == ring.seen == 0


@pytest.mark.parametrize(
    ("seen", "sizes", "first", "n", "needs", "oldest"),
    [
        (10, {"slack": 2}, 2, 1, 3, 4),
        (6, {"sinks": 1}, 0, 1, 1, 2),
        (12, {"sinks": 2, "slack": 1}, 1, 2, 5, 7),
    ],
)
def test_what_a_refusal_names(seen, sizes, first, n, needs, oldest) -> None:
    ring = ring_after(seen, **sizes)
    ring.rewind(first)
    words = rf"needs position {needs}, and the oldest position still held\D* is {oldest}\."
    with pytest.raises(RewindError, match=words):
        ring.rewind(n)


def test_a_state_without_its_sinks_is_refused() -> None:
    state = ring_after(20, sinks=2).state_dict()
    state["positions"][0] = -1
    with pytest.raises(ValueError, match="cannot be those of a ring"):
        NumpyRing.from_state_dict(state)


def test_a_reset_clears_the_storage() -> None:
    ring = ring_after(9, sinks=1)
    ring.reset()
    assert not ring.keys.any()
    assert not ring.values.any()


def test_a_state_is_a_copy() -> None:
    ring = ring_after(7, slack=1)
    state, before = ring.state_dict(), snapshot(ring)
    ring.append(tokens(3), tokens(3))
    first, second = NumpyRing.from_state_dict(state), NumpyRing.from_state_dict(state)
    assert snapshot(first) == snapshot(second) == before
    first.append(tokens(3), tokens(3))
    for name in ("keys", "values", "positions"):
        state[name][...] = 99
    assert snapshot(second) == before


def test_what_a_state_holds_in_empty_slots_is_not_loaded() -> None:
    state = ring_after(2).state_dict()
    state["values"][:, 2:] = np.nan
    assert (NumpyRing.from_state_dict(state).values[:, 2:] == 0).all()
    with pytest.raises(TypeError, match="the state is a NoneType"):
        NumpyRing.from_state_dict(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("start", [2**31 - 3, 2**53 - 3])
def test_very_long_texts(start: int) -> None:
    ring = NumpyRing(4, 1, 4)
    state = ring.state_dict() | {"seen": start, "keys": tokens(4), "values": tokens(4)}
    state["positions"] = np.array(sorted(range(start - 4, start), key=lambda p: p % 4))
    ring = NumpyRing.from_state_dict(state)
    ring.append(tokens(5), tokens(5))
    assert sorted(ring.positions.tolist()) == list(range(start + 1, start + 5))


def test_a_state_survives_a_file(tmp_path: Any) -> None:
    ring = ring_after(9, sinks=1, slack=2)
    ring.rewind(2)
    np.savez(tmp_path / "ring.npz", **ring.state_dict())
    with np.load(tmp_path / "ring.npz") as state:
        again = NumpyRing.from_state_dict(state)
    assert snapshot(again) == snapshot(ring)
    assert (again.window, again.sinks, again.slack) == (4, 1, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seen": None}, "lacks seen"),
        ({"window": 5}, "make them float32"),
        ({"keys": np.zeros((1, 5, 4))}, "make them|values"),
        ({"keys": np.zeros(5, np.float32)}, r"give an array \(kv_heads, slots, head_dim\)"),
        ({"positions": np.array([1, 0, -1, -1, -1, -1])}, "cannot be those of a ring"),
        ({"positions": np.array([0, 1, 2, 3, 4, 50])}, "cannot be those of a ring"),
        ({"positions": np.array([0, 1, 2, 3, 4, -7])}, "cannot be those of a ring"),
        ({"positions": np.array([0, 1, 2, -1, 4, -1])}, "cannot be those of a ring"),
        ({"positions": np.full(6, -1)}, "cannot be those of a ring"),
        ({"positions": np.array([0, 1, 2, 3, 4.0, -1])}, "positions are float64"),
        ({"positions": np.array([5, 4, 3, 2, 1, 0]), "seen": 6}, "cannot be those of a ring"),
        ({"positions": np.array([18, 19, 14, 9, 16, 17]), "seen": 20}, "cannot be those of a ring"),
        ({"seen": 500}, "cannot be those of a ring"),
        ({"seen": 2**62}, "seen is 4611686018427387904; give less than"),
        ({"seen": 4}, "cannot be those of a ring"),
        ({"seen": -1}, "seen is -1"),
        ({"seen": 2**63}, "seen is 9223372036854775808; give less than"),
        ({"keys": [[[0.0]]]}, "keys are a list; give an array"),
    ],
)
def test_a_state_that_no_ring_has_is_refused(change: dict[str, Any], words: str) -> None:
    state = ring_after(5, slack=2).state_dict() | change
    state = {name: value for name, value in state.items() if value is not None}
    with pytest.raises(ValueError, match=words):
        NumpyRing.from_state_dict(state)


@pytest.mark.parametrize(
    ("sizes", "error", "words"),
    [
        ({"window": 0}, ValueError, "window is 0; give 1 or more"),
        ({"window": 2.5}, TypeError, "window is 2.5; give a whole number"),
        ({"sinks": -1}, ValueError, "sinks is -1; give 0 or more"),
        ({"slack": "2"}, TypeError, "slack is '2'"),
        ({"kv_heads": 0}, ValueError, "kv_heads is 0"),
        ({"head_dim": 0}, ValueError, "head_dim is 0"),
        ({"dtype": np.int64}, TypeError, "dtype is int64; give one of float16"),
        ({"dtype": "tall"}, TypeError, "dtype is 'tall'"),
        ({"dtype": None}, TypeError, "dtype is None"),
        ({"dtype": ">f4"}, TypeError, "in this machine's byte order"),
        ({"dtype": "(2,)f4"}, TypeError, "give one of float16"),
        ({"window": True}, TypeError, "window is True; give a whole number"),
        ({"window": 10**30}, ValueError, "give less than 2 .. 62"),
        ({"window": 2**61}, ValueError, "do not fit into memory; give smaller sizes"),
    ],
)
def test_sizes_that_cannot_be(sizes: dict[str, Any], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        ring_after(0, **sizes)


GOOD = tokens(2, 2, 4)
WRONG_INPUTS: list[tuple[Any, Any, Any, type[Exception], str]] = [
    (GOOD, GOOD[:1], GOOD, ValueError, r"k has shape \(1, 2, 4\)"),
    (GOOD, GOOD, GOOD[:, :1], ValueError, "k has 2 tokens and v has 1"),
    (GOOD, GOOD[..., :3], GOOD, ValueError, r"give \(kv_heads, n, head_dim\) \(2, n, 4\)"),
    (GOOD, GOOD[:, :0], GOOD[:, :0], ValueError, "with n >= 1"),
    (GOOD, GOOD[0], GOOD, ValueError, r"k has shape \(2, 4\)"),
    (GOOD, GOOD.tolist(), GOOD, TypeError, "k is a list; give a NumPy array"),
    (GOOD, GOOD, GOOD.astype(np.float64), TypeError, r"v.astype\('float32'\)"),
    (GOOD[:1], GOOD, GOOD, ValueError, "a multiple of 2"),
    (GOOD[:, :1], GOOD, GOOD, ValueError, r"q has shape \(2, 1, 4\)"),
    (GOOD.astype(np.float16), GOOD, GOOD, TypeError, "q has dtype float16 and this ring stores"),
    (GOOD[:0], GOOD, GOOD, ValueError, "a multiple of 2"),
    (None, GOOD, GOOD, TypeError, "q is a NoneType"),
    (np.ma.array(GOOD), GOOD, GOOD, TypeError, "q is a MaskedArray"),
    (GOOD[:, :1], np.ma.array(GOOD[:, :1]), GOOD[:, :1], TypeError, "k is a MaskedArray"),
    (GOOD.astype(">f4"), GOOD, GOOD, TypeError, "q has dtype >f4"),
]


@pytest.mark.parametrize(("q", "k", "v", "error", "words"), WRONG_INPUTS)
def test_wrong_inputs_are_refused_and_change_nothing(q, k, v, error, words) -> None:
    ring = ring_after(5, kv_heads=2)
    before = snapshot(ring)
    with pytest.raises(error, match=words):
        ring.step(q, k, v)
    assert snapshot(ring) == before


@pytest.mark.parametrize(
    ("scale", "error", "words"),
    [
        ("0.5", TypeError, "scale is '0.5'; give a number or None"),
        ([1.0], TypeError, r"scale is \[1.0\]"),
        (float("inf"), ValueError, "scale is inf; give a finite number that float32 can hold"),
        (float("nan"), ValueError, "scale is nan"),
        (1e39, ValueError, "scale is 1e.39"),
        (10**400, ValueError, "that float32 can hold"),
    ],
)
@pytest.mark.parametrize("n", [1, 2])
def test_a_wrong_scale_is_refused_and_changes_nothing(n, scale, error, words) -> None:
    ring = ring_after(5, kv_heads=2)
    before = snapshot(ring)
    for call in (
        lambda: ring.step(*[GOOD[:, :n]] * 3, scale),
        lambda: ring.attend(GOOD[:, 0], scale),
    ):
        with pytest.raises(error, match=words):
            call()
        assert snapshot(ring) == before


def test_queries_that_do_not_fit() -> None:
    ring = ring_after(5, kv_heads=2)
    for q in (GOOD, GOOD[:1, 0], GOOD[:, 0, :3]):
        with pytest.raises(ValueError, match="q has shape"):
            ring.attend(q)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("seen", range(1, 9))
def test_inputs_may_be_views_of_the_ring_itself(n: int, seen: int) -> None:
    def two() -> tuple[NumpyRing, NumpyRing]:
        return ring_after(max(seen, n)), ring_after(max(seen, n))

    for start in range(4 - n + 1):
        ours, theirs = two()
        part = slice(start, start + n)
        views = ours.values[:, part], ours.keys[:, part], ours.values[:, part]
        copies = [view.copy() for view in views]
        assert (ours.step(*views) == theirs.step(*copies)).all()
        assert snapshot(ours) == snapshot(theirs)
        ours, theirs = two()
        ours.append(tokens(n, seed=9), ours.keys[:, part])
        theirs.append(tokens(n, seed=9), theirs.keys[:, part].copy())
        assert snapshot(ours) == snapshot(theirs)


def test_a_query_may_be_a_view_of_the_slot_that_is_written() -> None:
    ours, theirs = ring_after(6), ring_after(6)  # the next slot is 2
    q = ours.keys[:, 2:3]
    expected = theirs.step(q.copy(), tokens(1, seed=2), tokens(1, seed=3))
    assert (ours.step(q, tokens(1, seed=2), tokens(1, seed=3)) == expected).all()


def test_half_precision_is_computed_in_float32() -> None:
    x = np.full((1, 3, 64), 100, np.float16)  # scores of 80,000 are past float16
    ring = NumpyRing(4, 1, 64, dtype=np.float16)
    assert (ring.step(x, x, x) == 100).all()
    assert (ring.attend(x[:, -1]) == 100).all()
    assert np.isfinite(ring.step(x, x, x, scale=70000.0)).all()


def test_inputs_need_not_be_contiguous_or_writable() -> None:
    q, k, v = (np.asfortranarray(tokens(6, heads, seed=heads)) for heads in (4, 2, 2))
    for x in (q, k, v):
        x.flags.writeable = False
    for sizes in ([6], [1] * 6):
        ring, start = NumpyRing(3, 2, 4), 0
        for n in sizes:
            out = ring.step(*(x[:, start : start + n] for x in (q, k, v)))
            assert np.abs(out - oracle_attention(q, k, v, 3)[:, start : start + n]).max() < 2e-6
            start += n


def test_the_heart_is_short() -> None:
    """Write, mask, attend, step and the attention itself: about 60 lines of code at most."""
    heart = ("_places", "_write", "_mask", "_one", "_chunk", "append", "step", "attend")
    parts = [getattr(NumpyRing, name) for name in heart] + [module.masked_attention]
    assert sum(map(_lines_of_code, parts)) <= 60


def _lines_of_code(function: Any) -> int:
    tree = ast.parse(dedent(inspect.getsource(function)))
    definition = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body
    lines = {n for node in body for n in range(node.lineno, (node.end_lineno or 0) + 1)}
    return len(lines)
