from __future__ import annotations

import ast
import copy
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringkv_edu import pure
from ringkv_edu.pure import NaiveKVBuffer, RingKVBuffer, attend
from ringkv_edu.visibility import oracle_attention, slot_of, visible

SOURCE = Path(pure.__file__)


def filled(buffer, count: int):
    for position in range(count):
        buffer.append([float(position), 1.0], [float(-position)], position)
    return buffer


def test_the_documents_decode_table() -> None:
    """S3: W=4, ten tokens; used slots 1 2 3 4 4 ..., last positions and writes 6 7 8 9."""
    ring, used, kept = RingKVBuffer(4), [], []
    for position in range(10):
        ring.append([1.0], [1.0], position)
        used.append(len(ring))
        kept.append([entry.position for entry in ring.visible()])
    assert used == [1, 2, 3, 4, 4, 4, 4, 4, 4, 4]
    assert kept[3:6] == [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]]
    assert kept[-1] == [6, 7, 8, 9]
    assert [entry.insert_seq for entry in ring.visible()] == [6, 7, 8, 9]
    assert [entry.physical_slot for entry in ring.visible()] == [2, 3, 0, 1]


def test_fields_of_the_surface() -> None:
    ring = filled(RingKVBuffer(window_size=4), 6)
    assert ring.positions == ring.insert_count == [4, 5, 2, 3]
    assert (ring.head, ring.size, ring.num_writes, ring.window_size) == (2, 4, 6, 4)
    assert ring.keys[0] == [4.0, 1.0]
    assert ring.values[0] == [-4.0]


@given(window=st.integers(1, 9), count=st.integers(1, 40))
def test_the_ring_keeps_what_the_rule_shows(window: int, count: int) -> None:
    ring = filled(RingKVBuffer(window), count)
    seen = [j for j in range(count) if visible(count - 1, j, window)]
    assert [entry.position for entry in ring.visible()] == seen
    assert [slot_of(j, window) for j in seen] == [entry.physical_slot for entry in ring.visible()]


@given(window=st.integers(1, 5), starts=st.lists(st.integers(0, 90), min_size=1, max_size=20))
def test_the_slot_follows_the_write_and_the_position_is_the_callers(
    window: int, starts: list[int]
) -> None:
    ring = RingKVBuffer(window)
    for write, position in enumerate(starts):
        assert ring.append([1.0], [1.0], position) == write % window
    assert [entry.position for entry in ring.visible()] == starts[-window:]


@given(window=st.integers(1, 6), count=st.integers(1, 20), seed=st.integers(0, 99))
def test_attention_equals_the_oracle(window: int, count: int, seed: int) -> None:
    q, k, v = np.random.default_rng(seed).normal(size=(3, 1, count, 3))
    ring = RingKVBuffer(window)
    expected = oracle_attention(q, k, v, window)
    for t in range(count):
        ring.append(k[0, t], v[0, t], t)
        assert attend(q[0, t], ring) == pytest.approx(expected[0, t].tolist(), abs=1e-12)


def test_attention_is_safe_for_large_scores_and_none_when_empty() -> None:
    ring = RingKVBuffer(2)
    assert attend([1.0], ring) is None
    ring.append([1e4], [3.0], 0)
    ring.append([-1e4], [5.0], 1)
    assert attend([1e4], ring) == [3.0]


def test_naive_has_the_same_surface_and_never_forgets() -> None:
    ring, naive = filled(RingKVBuffer(4), 9), filled(NaiveKVBuffer(), 9)
    assert [entry.position for entry in naive.visible()] == list(range(9))
    assert naive.visible()[-4:] != ring.visible()  # the slots differ
    assert [e[:4] for e in naive.visible()[-4:]] == [e[:4] for e in ring.visible()]
    fields = ("keys", "values", "positions", "insert_count", "head", "size", "num_writes")
    assert all(hasattr(naive, name) and hasattr(ring, name) for name in fields)
    assert (len(naive), naive.head, naive.size, naive.num_writes) == (9, 9, 9, 9)
    naive.reset()
    assert naive.visible() == []


def test_reset_is_like_new() -> None:
    ring = filled(RingKVBuffer(4), 6)
    ring.reset()
    assert vars(ring) == vars(RingKVBuffer(4))


def test_what_is_stored_is_a_copy() -> None:
    key = [1.0, 2.0]
    ring = RingKVBuffer(2)
    ring.append(key, key, 0)
    key[0] = 99.0
    assert ring.visible()[0].key == ring.visible()[0].value == [1.0, 2.0]


@pytest.mark.parametrize("make", [lambda: RingKVBuffer(3), NaiveKVBuffer])
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1.0], [1.0], 2), ValueError, "key has 1 numbers; those stored here have 2"),
        (([1.0, 2.0], [1.0, 2.0], 2), ValueError, "value has 2 numbers"),
        (([1.0, 2.0], [1.0], -1), ValueError, "position is -1; give 0 or more"),
        (([1.0, 2.0], [1.0], 1.5), TypeError, "position is 1.5"),
        ((["a", 2.0], [1.0], 2), TypeError, "key is .*; give a list of numbers"),
        ((3.0, [1.0], 2), TypeError, "key is 3.0"),
        (([], [1.0], 2), ValueError, "key is empty"),
    ],
)
def test_a_wrong_append_changes_nothing(make, arguments, error, words: str) -> None:
    buffer = filled(make(), 2)
    before = copy.deepcopy(vars(buffer))
    with pytest.raises(error, match=words):
        buffer.append(*arguments)
    assert vars(buffer) == before


@pytest.mark.parametrize(
    ("size", "error"), [(0, ValueError), (-3, ValueError), (2.5, TypeError), ("4", TypeError)]
)
def test_a_wrong_window_size(size, error) -> None:
    with pytest.raises(error, match="window_size is"):
        RingKVBuffer(size)


def test_a_query_of_another_length() -> None:
    with pytest.raises(ValueError, match="query has 1 numbers; the stored keys 2"):
        attend([1.0], filled(RingKVBuffer(2), 1))


def test_it_stands_alone_on_the_standard_library() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-I", str(SOURCE)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-2].split() == [
        "9",
        "1",
        "8",
        "9",
        "6",
        "7",
        "6",
        "7",
        "8",
        "9",
    ]
    imports = [n for n in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(n, ast.ImportFrom)]
    assert all(node.level == 0 for node in imports)
    assert all(node.module in sys.stdlib_module_names for node in imports if node.module) or {
        node.module for node in imports
    } <= {"__future__", "collections.abc", "operator", "typing"}


def test_nan_is_kept_as_the_callers() -> None:
    """A non-finite value reaches outputs while it is stored, and none after."""
    ring = RingKVBuffer(2)
    ring.append([1.0], [math.nan], 0)
    assert math.isnan(attend([1.0], ring)[0])
    filled_ring = [ring.append([1.0], [1.0], p) for p in (1, 2)]
    assert filled_ring == [1, 0]
    assert attend([1.0], ring) == [1.0]
