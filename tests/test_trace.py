from __future__ import annotations

import json

import numpy as np
import pytest

from ringkv_edu import NaiveKVBuffer, NumpyRing, NumpySummaryRing, RingKVBuffer, record
from ringkv_edu.figures.steps_table import steps_table
from ringkv_edu.rope import rotate
from ringkv_edu.trace import Trace
from ringkv_edu.trace_wrong import in_words


def ring_trace(window: int = 4, tokens=10) -> Trace:
    return record(lambda: RingKVBuffer(window), tokens)


def test_what_each_slot_holds() -> None:
    steps = ring_trace().steps
    assert [step.slots for step in steps[2:6]] == [
        (0, 1, 2, -1), (0, 1, 2, 3), (4, 1, 2, 3), (4, 5, 2, 3),
    ]  # fmt: skip
    assert [step.evicted for step in steps[2:6]] == [(), (), (0,), (1,)]
    assert [step.written for step in steps[2:6]] == [(2,), (3,), (0,), (1,)]


def test_a_ring_of_arrays() -> None:
    trace = record(lambda: NumpyRing(window=2, kv_heads=1, head_dim=2, sinks=1), 5)
    assert not trace.problem
    assert [step.slots for step in trace.steps[2:]] == [(0, 1, 2), (0, 3, 2), (0, 3, 4)]


def test_a_growing_cache() -> None:
    trace = record(NaiveKVBuffer, 3)
    assert [step.slots for step in trace.steps] == [(0,), (0, 1), (0, 1, 2)]
    assert trace.slot_count == 3


def test_a_trace_is_plain_data() -> None:
    trace = ring_trace(2, ["a", "b", "c"])
    again = Trace.from_dict(json.loads(json.dumps(trace.to_dict())))
    assert again == trace
    with pytest.raises(ValueError, match="version 99"):
        Trace.from_dict(trace.to_dict() | {"version": 99})


def test_a_wrong_cache_is_recorded_as_it_is() -> None:
    class Broken(RingKVBuffer):
        def append(self, key, value, position):
            if position == 2:
                raise IndexError("slot 2")
            return super().append(key, value, position)

    trace = record(lambda: Broken(4), 5)
    assert len(trace.steps) == 2
    assert trace.problem == "step 2: IndexError: slot 2"
    assert steps_table(trace).splitlines()[-1] == "stopped at step 2: IndexError: slot 2"


def first_wrong(cache, tokens=12, **sizes):
    """The first step with a mistake, and its mistakes."""
    trace = record(cache, tokens, **sizes)
    assert not trace.problem, trace.problem
    return next(((step.position, step.wrong) for step in trace.steps if step.wrong), None)


@pytest.mark.parametrize(
    ("cache", "sizes"),
    [
        (RingKVBuffer, {"window_size": 4}),
        (RingKVBuffer, {"window_size": 1}),
        (NaiveKVBuffer, {}),
        (NumpyRing, {"window": 4, "kv_heads": 2, "head_dim": 4, "sinks": 2}),
        (NumpyRing, {"window": 3, "kv_heads": 1, "head_dim": 2, "slack": 2}),
        (NumpyRing, {"window": 40, "kv_heads": 1, "head_dim": 2}),
        (NumpySummaryRing, {"window": 4, "kv_heads": 1, "head_dim": 2, "summaries": 3, "block": 2}),
        (
            NumpySummaryRing,
            {"window": 4, "kv_heads": 1, "head_dim": 2, "summaries": 2, "block": 3, "sinks": 1},
        ),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else str(x),
)
def test_a_right_cache_has_no_mistake_and_its_queries_are_asked(cache, sizes) -> None:
    trace = record(cache, 30, **sizes)
    assert trace.mistake == ""
    assert len(trace.steps) == 30
    last = trace.steps[-1]
    assert last.held == last.slots
    if last.summaries or trace.window is None:
        assert last.seen == tuple(range(30))
    else:
        seen = {p for p in range(30) if 29 - p < trace.window or p < trace.sinks}
        assert set(last.seen) == seen
    assert Trace.from_dict(json.loads(json.dumps(trace.to_dict()))) == trace


def test_summaries_stand_for_what_left() -> None:
    trace = record(NumpySummaryRing, 12, window=4, kv_heads=1, head_dim=2, summaries=3, block=2)
    assert trace.steps[3].summaries == ()
    assert trace.steps[-1].summaries == ((0, 3, 1.5), (4, 5, 4.5), (6, 7, 6.5))


def test_rows_of_a_batch() -> None:
    torch = pytest.importorskip("torch")
    from ringkv_edu import TorchRing

    ring = TorchRing(3, 2, 1, 4, sinks=1)
    ring.append(*[torch.zeros(2, 1, 5, 4)] * 2)
    before = ring.positions.clone()
    trace = record(ring, 8)
    assert torch.equal(ring.positions, before)  # a copy was run
    assert trace.mistake == ""
    assert len(trace.rows) == 1
    assert trace.rows[0].steps[-1].slots == trace.steps[-1].slots
    assert set(trace.steps[-1].seen) == {0, 5, 6, 7}
    assert Trace.from_dict(json.loads(json.dumps(trace.to_dict()))) == trace


def test_chunks() -> None:
    ring = lambda: NumpyRing(4, 1, 2, sinks=1)  # noqa: E731
    trace = record(ring, 12, chunks=[3, 6, 1])
    assert [step.position for step in trace.steps] == [2, 8, 9, 10, 11]
    assert trace.steps[1].text == "3 4 5 6 7 8"
    assert trace.steps[1].slots == (0, 5, 6, 7, 8)
    assert trace.mistake == ""
    assert set(trace.steps[1].seen) == {0, 5, 6, 7, 8}
    assert "chunks are of 1 token or more" in record(ring, 4, chunks=[0]).problem


def test_rows_of_different_lengths() -> None:
    torch = pytest.importorskip("torch")
    from ringkv_edu import TorchRing

    make = lambda: TorchRing(3, 2, 1, 4, dtype=torch.float32)  # noqa: E731
    trace = record(make, ["a b c d e".split(), "x y".split()])
    (other,) = trace.rows
    assert [step.text for step in other.steps] == ["x", "y"]
    assert trace.steps[-1].slots == (3, 4, 2)
    assert other.steps[-1].slots == (0, 1, -1)
    assert (trace.mistake, other.mistake) == ("", "")
    assert set(other.steps[-1].seen) == {0, 1}
    assert "tokens has 3 rows, the cache 2" in record(make, [["a"], ["b"], ["c"]]).problem


class Wrong(RingKVBuffer):
    """A ring with a place for each mistake."""

    slot_of = staticmethod(lambda ring, position: position % ring.window_size)
    label = staticmethod(lambda slot, position: position)

    def append(self, key, value, position):
        slot = self.slot_of(self, position)
        self.keys[slot], self.values[slot] = key, value
        self.positions[slot], self.insert_count[slot] = self.label(slot, position), position
        self.num_writes += 1
        return slot

    def visible(self):
        from ringkv_edu.pure import Entry

        held = [slot for slot, key in enumerate(self.keys) if key is not None]
        return [
            Entry(self.keys[k], self.values[k], self.positions[k], self.insert_count[k], k)
            for k in held
        ]


def wrong(**changes):
    return type("Mine", (Wrong,), {name: staticmethod(f) for name, f in changes.items()})


def test_mistakes_are_named_where_they_first_show() -> None:
    assert first_wrong(wrong(), window_size=4) is None
    short = wrong(slot_of=lambda ring, p: p % (ring.window_size - 1))
    at, (lost, *_) = first_wrong(short, window_size=4)
    assert (at, lost.kind, lost.position) == (3, "lost", 0)
    labelled = wrong(label=lambda slot, position: slot)
    at, (label, *_) = first_wrong(labelled, window_size=4)
    assert (at, label.kind, label.slot, label.position, label.says) == (4, "label", 0, 4, 0)

    class Wide(Wrong):
        def __init__(self, window_size):
            super().__init__(window_size + 1)
            self.window = window_size

    at, (stale, *_) = first_wrong(Wide, window_size=4)
    assert (at, stale.kind, stale.position, stale.slot) == (4, "stale", 0, 0)

    class Zeros(NumpyRing):
        def __init__(self):
            super().__init__(4, 1, 2)
            self.positions[:] = 0

    at, (unwritten, *_) = first_wrong(Zeros)
    assert (at, unwritten.kind, unwritten.slot, unwritten.says) == (0, "unwritten", 1, 0)

    class Blind(Wrong):
        def visible(self):
            return super().visible()[1:] or super().visible()

    at, (unseen, *_) = first_wrong(Blind, window_size=4)
    assert (at, unseen.kind, unseen.position) == (1, "unseen", 0)

    class Twice(Wrong):
        def visible(self):
            return [*super().visible(), super().visible()[0]]

    at, (twice, *_) = first_wrong(Twice, window_size=4)
    assert (at, twice.kind, twice.position, twice.says) == (1, "twice", 0, 2)


def test_nothing_is_called_lost_where_nobody_knows_the_window() -> None:
    class Silent:
        def __init__(self, size):
            self.keys, self.values = np.zeros((2, 1, size, 2))
            self.positions, self.next = np.full(size, -1), 0

        def append(self, k, v):
            slot = self.next % len(self.positions)
            self.keys[:, slot], self.positions[slot] = k[:, 0], self.next
            self.next += 1

    trace = record(Silent, 9, size=3)
    assert (trace.mistake, trace.window) == ("", None)
    assert trace.steps[-1].slots == (6, 7, 8)
    assert trace.steps[-1].seen is None

    class Sized(Silent):
        def __init__(self, window):
            super().__init__(window - 1)

    assert "step 2: position 0, 2 back" in record(Sized, 9, window=3).mistake


def test_keys_that_are_turned_as_they_are_stored_are_not_called_wrong() -> None:
    class Turned(NumpyRing):
        def append(self, k, v):
            super().append(rotate(k, [self.seen]).astype(k.dtype), v)

    trace = record(Turned, 9, window=3, kv_heads=1, head_dim=2)
    assert trace.mistake == ""


def test_a_ring_that_forgets_to_wrap_stops() -> None:
    trace = record(wrong(slot_of=lambda ring, p: p), 9, window_size=4)
    assert len(trace.steps) == 4
    assert trace.mistake == "step 4: IndexError: list assignment index out of range"


def test_mistakes_in_words() -> None:
    labelled = record(wrong(label=lambda slot, position: slot), 12, window_size=4)
    assert labelled.mistake == (
        "step 4: slot 0 holds position 4 and says 0: 0 back is taken for 4 back"
    )
    assert [in_words(one, 5) for one in labelled.steps[5].wrong] == [
        "slot 0 holds position 4 and says 0: 1 back is taken for 5 back",
        "slot 1 holds position 5 and says 1: 0 back is taken for 4 back",
    ]


def test_a_trace_in_words() -> None:
    trace = record(RingKVBuffer, 6, window_size=2)
    assert str(trace) == "RingKVBuffer, window 2, 6 steps"
    assert trace.in_words(0) == f"{trace}: nothing is stored yet."
    assert (
        trace.in_words(3) == "RingKVBuffer after position 2: slot 0 position 2, slot 1 position 1."
    )
    labelled = record(wrong(label=lambda slot, position: slot), 12, window_size=4)
    assert labelled.in_words(5).endswith(
        " slot 0 holds position 4 and says 0: 0 back is taken for 4 back."
    )


def test_a_cache_that_holds_something_is_emptied_in_its_copy() -> None:
    ring = RingKVBuffer(3)
    for position in range(5):
        ring.append([0.0], [0.0], position)
    assert record(ring, 4).steps[0].slots == (0, -1, -1)
    assert ring.positions == [3, 4, 2]

    class Stuck(Wrong):
        reset = property(lambda self: 1 / 0)

        def __init__(self):
            self.window_size, self.positions, self.keys = 2, [0, 1], [[1.0], [2.0]]

    assert "ZeroDivisionError" in record(Stuck(), 3).problem
    with pytest.raises(TypeError, match="this RingKVBuffer has its own"):
        record(ring, 3, window_size=4)


def test_a_cache_without_positions() -> None:
    assert "AttributeError" in record(object, 3).problem


def test_the_table_in_full() -> None:
    table = steps_table(ring_trace(2, "to be or not".split()))
    assert table == (
        "step  slot 0  slot 1  leaves\n"
        "   0 >0 to    .\n"
        "   1  0 to   >1 be\n"
        "   2 >2 or    1 be    0 to\n"
        "   3  2 or   >3 not   1 be"
    )


def test_a_wide_table_leaves_the_words_out() -> None:
    table = steps_table(ring_trace(16, ["word"] * 20))
    assert "word" not in table
    assert max(map(len, table.splitlines())) < 200
