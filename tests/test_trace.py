from __future__ import annotations

import json

import pytest

from ringkv_edu import NaiveKVBuffer, NumpyRing, RingKVBuffer, record
from ringkv_edu.figures.steps_table import steps_table
from ringkv_edu.trace import Trace


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
