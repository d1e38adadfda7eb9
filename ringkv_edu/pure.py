"""Stage 1: the ring-buffer KV cache in plain Python, standard library only.

One layer and one head, so a key and a value are plain lists of numbers. Two buffers share one
surface: ``NaiveKVBuffer`` keeps everything, ``RingKVBuffer`` keeps the last ``window_size``
tokens in as many slots. Run this file to watch ten tokens go round four slots.

Source: systems S1-S4 of ``course/references.md``; the window is the one of Mistral 7B
(arXiv 2310.06825): a query sees itself and the ``window_size - 1`` positions before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import NamedTuple

Vector = list[float]


class Entry(NamedTuple):
    """One stored token, as ``visible()`` gives it."""

    key: Vector
    value: Vector
    position: int  # where the token stands in the text
    insert_seq: int  # which write this was, counted from 0
    physical_slot: int  # where in memory it lies


class RingKVBuffer:
    """The last ``window_size`` tokens, in ``window_size`` slots that are written in a circle.

    Write number ``n`` goes to slot ``n % window_size``. The position is whatever the caller
    says: a slot is not a position.

    Fields: ``keys`` and ``values`` (window_size lists of head_dim numbers, or None),
    ``positions`` and ``insert_count`` (the position and the write number that each slot holds,
    -1 when empty), ``head`` (the slot of the next write), ``size`` (slots in use) and
    ``num_writes`` (tokens ever written). Raises ``ValueError`` when ``window_size < 1``.
    """

    def __init__(self, window_size: int) -> None:
        self.window_size = _whole_number("window_size", window_size, least=1)
        self.reset()

    def reset(self) -> None:
        """Forget every token, and where the next one goes."""
        self.keys: list[Vector | None] = [None] * self.window_size
        self.values: list[Vector | None] = [None] * self.window_size
        self.positions = [-1] * self.window_size
        self.insert_count = [-1] * self.window_size
        self.head = self.size = self.num_writes = 0

    def append(self, key: Sequence[float], value: Sequence[float], position: int) -> int:
        """Write one token over the oldest one and return its slot.

        Raises ``ValueError`` or ``TypeError``, with the buffer as it was, when the vectors are
        not numbers, are longer or shorter than those stored, or the position is negative.
        """
        key, value, position = _checked(self, key, value, position)
        slot = self.head
        self.keys[slot], self.values[slot] = key, value
        self.positions[slot] = position
        self.insert_count[slot] = self.num_writes
        self.num_writes += 1
        self.head = self.num_writes % self.window_size
        self.size = min(self.num_writes, self.window_size)
        return slot

    def visible(self) -> list[Entry]:
        """Give the stored tokens from the oldest to the newest write."""
        oldest = self.num_writes - self.size
        slots = [write % self.window_size for write in range(oldest, self.num_writes)]
        return [_entry(self, slot) for slot in slots]

    def __len__(self) -> int:
        return self.size


class NaiveKVBuffer:
    """Every token ever written: the same surface, and memory that grows without end.

    Fields as in ``RingKVBuffer``, but the lists grow and ``window_size`` is None.
    """

    window_size = None

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget every token."""
        self.keys: list[Vector | None] = []
        self.values: list[Vector | None] = []
        self.positions: list[int] = []
        self.insert_count: list[int] = []

    @property
    def num_writes(self) -> int:
        """Tokens ever written: the naive buffer still holds them all."""
        return len(self.positions)

    head = size = num_writes

    def append(self, key: Sequence[float], value: Sequence[float], position: int) -> int:
        """Write one token into a new slot and return it; errors as in ``RingKVBuffer``."""
        key, value, position = _checked(self, key, value, position)
        self.keys.append(key)
        self.values.append(value)
        self.insert_count.append(self.num_writes)
        self.positions.append(position)
        return self.num_writes - 1

    def visible(self) -> list[Entry]:
        """Give every token, oldest first."""
        return [_entry(self, slot) for slot in range(self.num_writes)]

    def __len__(self) -> int:
        return self.num_writes


def attend(query: Sequence[float], buffer: RingKVBuffer | NaiveKVBuffer) -> Vector | None:
    """Softmax attention of one query over ``buffer.visible()``.

    ``query`` has head_dim numbers; so has the result, the average of the stored values weighted
    by softmax(query . key / sqrt(head_dim)). None when nothing is stored. Raises ``ValueError``
    when the query has another length than the keys.
    Source: arXiv 1706.03762, equation 1; the maximum is subtracted so that exp cannot overflow.
    """
    entries = buffer.visible()
    if not entries:
        return None
    query = _vector("query", query)
    if len(query) != len(entries[0].key):
        raise ValueError(f"query has {len(query)} numbers; the stored keys {len(entries[0].key)}")
    scale = 1 / math.sqrt(len(query))
    scores = [scale * sum(a * b for a, b in zip(query, e.key, strict=True)) for e in entries]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    lanes = zip(*(e.value for e in entries), strict=True)
    return [sum(w * x for w, x in zip(weights, lane, strict=True)) / total for lane in lanes]


def _entry(buffer: RingKVBuffer | NaiveKVBuffer, slot: int) -> Entry:
    key, value = buffer.keys[slot], buffer.values[slot]
    assert key is not None  # only slots in use are asked for
    assert value is not None
    return Entry(key, value, buffer.positions[slot], buffer.insert_count[slot], slot)


def _checked(
    buffer: RingKVBuffer | NaiveKVBuffer,
    key: Sequence[float],
    value: Sequence[float],
    position: int,
) -> tuple[Vector, Vector, int]:
    """Check and copy one token before anything is written."""
    checked = _vector("key", key), _vector("value", value), _whole_number("position", position, 0)
    if buffer.num_writes:
        stored = _entry(buffer, 0)
        for name, new, old in (
            ("key", checked[0], stored.key),
            ("value", checked[1], stored.value),
        ):
            if len(new) != len(old):
                raise ValueError(
                    f"{name} has {len(new)} numbers; those stored here have {len(old)}"
                )
    return checked


def _vector(name: str, numbers: Sequence[float]) -> Vector:
    try:
        copy = [float(x) for x in numbers]
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {numbers!r}; give a list of numbers") from None
    if not copy:
        raise ValueError(f"{name} is empty; give at least one number")
    return copy


def _whole_number(name: str, value: int, least: int) -> int:
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; give a whole number") from None
    if number < least:
        raise ValueError(f"{name} is {number}; give {least} or more")
    return number


if __name__ == "__main__":
    ring = RingKVBuffer(window_size=4)
    print("step  slot  positions in slots 0-3   oldest to newest")
    for position in range(10):
        slot = ring.append(key=[position, 1.0], value=[float(position)], position=position)
        stored = " ".join("." if p < 0 else str(p) for p in ring.positions)
        in_time = " ".join(str(entry.position) for entry in ring.visible())
        print(f"{position:4}  {slot:4}  {stored:<23}  {in_time}")
    print("attention of a flat query:", attend([0.0, 0.0], ring))
