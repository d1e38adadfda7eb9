"""Rings as a learner might write them, right and wrong, for a model to decode with."""

from __future__ import annotations

import numpy as np
import torch


class Right:
    """One sequence, NumPy, with sinks."""

    def __init__(self, window, kv_heads, head_dim, sinks=0):
        self.window, self.sinks = window, sinks
        self.slots = self.room(window) + sinks
        self.keys = np.zeros((kv_heads, self.slots, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.positions = np.full(self.slots, -1)
        self.count = 0

    def room(self, window):
        return window

    def slot(self, p):
        return p if p < self.sinks else self.sinks + (p - self.sinks) % (self.slots - self.sinks)

    def note(self, slot):
        return self.count

    def append(self, k, v):
        for t in range(k.shape[1]):
            slot = self.slot(self.count)
            self.keys[:, slot], self.values[:, slot] = k[:, t], v[:, t]
            self.positions[slot] = self.note(slot)
            self.count += 1


class RightRows:
    """A batch, torch, without sinks: the surface of lesson 05's ring."""

    def __init__(self, window, batch, kv_heads, head_dim, dtype, device):
        shape = (batch, kv_heads, window, head_dim)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.positions = torch.full((batch, window), -1, device=device)
        self.seen = torch.zeros(batch, dtype=torch.int64, device=device)

    def append(self, k, v):
        for t in range(k.shape[2]):
            slot = int(self.seen[0]) % self.keys.shape[2]
            self.keys[:, :, slot], self.values[:, :, slot] = k[:, :, t], v[:, :, t]
            self.positions[:, slot] = self.seen
            self.seen += 1


class TooWide(Right):
    """The window is one too wide."""

    def room(self, window):
        return window + 1


class TooNarrow(Right):
    """The window is one too narrow."""

    def room(self, window):
        return max(1, window - 1)


class SlotForPosition(Right):
    """Each slot notes its own number."""

    def note(self, slot):
        return slot


class NeverWraps(Right):
    """Once full, the last slot is written again and again."""

    def slot(self, p):
        return min(p, self.slots - 1)


class Backwards(Right):
    """Once full, the newest token is overwritten by the next one, and so on backwards."""

    def slot(self, p):
        return (
            p if p < self.slots else self.slots - 1 - (p - self.sinks) % (self.slots - self.sinks)
        )


class SinksRoll(Right):
    """The ring rolls over all slots, the sinks' among them."""

    def slot(self, p):
        return p % self.slots


class StaleValues(Right):
    """A slot that is used again gets the new key and keeps the old value."""

    def append(self, k, v):
        for t in range(k.shape[1]):
            slot = self.slot(self.count)
            self.keys[:, slot] = k[:, t]
            if self.positions[slot] < 0:
                self.values[:, slot] = v[:, t]
            self.positions[slot] = self.count
            self.count += 1


class HalfPositions(Right):
    """Positions are kept in float16, which has no 2049."""

    def note(self, slot):
        return int(np.float16(self.count))


class BrainPositions(Right):
    """Positions are kept in bfloat16, which has no 257."""

    def note(self, slot):
        return int(torch.tensor(float(self.count), dtype=torch.bfloat16))


class FloatPositions(Right):
    """Positions are shown as float16."""

    def __init__(self, window, kv_heads, head_dim, sinks=0):
        super().__init__(window, kv_heads, head_dim, sinks)
        self.positions = self.positions.astype(np.float16)


class Saturates(Right):
    """`seen` stops at the window."""

    @property
    def seen(self):
        return min(self.count, self.window)


class EmptyAreZero(Right):
    """Empty slots claim position 0."""

    def __init__(self, window, kv_heads, head_dim, sinks=0):
        super().__init__(window, kv_heads, head_dim, sinks)
        self.positions[:] = 0


class Stops(Right):
    """Writes past the end once it is full."""

    def slot(self, p):
        return p


class Grows:
    """Keeps everything, so its window has no end."""

    def __init__(self, window, kv_heads, head_dim):
        self.keys = self.values = np.zeros((kv_heads, 0, head_dim), np.float32)
        self.positions = np.zeros(0, int)

    def append(self, k, v):
        self.keys = np.concatenate([self.keys, k], 1)
        self.values = np.concatenate([self.values, v], 1)
        self.positions = np.arange(self.keys.shape[1])


RIGHT = (Right, RightRows)
WRONG = (
    TooWide, TooNarrow, SlotForPosition, NeverWraps, Backwards, SinksRoll, StaleValues,
    HalfPositions, BrainPositions, Saturates, EmptyAreZero, Stops, Grows,
)  # fmt: skip
