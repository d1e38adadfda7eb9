"""Lesson 06, case file: right and wrong precisions of a running mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .model import answers

Array = npt.NDArray[Any]
HALF, SINGLE = np.float16, np.float32


class Summary:
    """The mean of all keys that were added; keys come and go in float16."""

    mean_type: Any = SINGLE
    count_type: Any = int
    start = 0

    def __init__(self, head_dim: int) -> None:
        self.mean = np.zeros(head_dim, self.mean_type)
        self.count = self.count_type(self.start)

    def add(self, key: Array) -> None:
        """Take one key."""
        self.count = self.count_type(self.count + self.count_type(1))
        step = (key.astype(self.mean_type) - self.mean) / self.mean_type(self.count)
        self.mean = (self.mean + step).astype(self.mean_type)

    def read(self) -> Array:
        """Give the mean in float16."""
        return np.asarray(self.mean.astype(HALF))


def changed(**parts: Any) -> dict[str, Any]:
    """Make a mutant of ``Summary`` with other methods or precisions."""
    return answers(Summary=type("Summary", (Summary,), parts))


def in_single(summary: Summary) -> Array:
    return summary.mean


def as_list(summary: Summary) -> list[float]:
    return [float(x) for x in summary.mean]


class AddsUp(Summary):
    """Keeps the sum in float16 and divides when asked."""

    def add(self, key: Array) -> None:
        """Take one key."""
        self.count += 1
        self.mean = self.mean.astype(HALF) + key

    def read(self) -> Array:
        """Give the mean in float16."""
        return np.asarray((self.mean / max(self.count, 1)).astype(HALF))


class KeepsAll(Summary):
    """Keeps every key."""

    def __init__(self, head_dim: int) -> None:
        super().__init__(head_dim)
        self.keys: list[Array] = []

    def add(self, key: Array) -> None:
        """Take one key."""
        self.keys.append(key)

    def read(self) -> Array:
        """Give the mean in float16."""
        whole = np.mean(self.keys, axis=0, dtype=np.float64) if self.keys else self.mean
        return np.asarray(whole.astype(HALF))


class Resets(Summary):
    """Begins anew where float16 would stop counting."""

    def add(self, key: Array) -> None:
        """Take one key."""
        if self.count == 2048:
            self.count = 0
        super().add(key)


class CountsLate(Summary):
    """Divides by the number of keys before this one."""

    def add(self, key: Array) -> None:
        """Take one key."""
        with np.errstate(all="ignore"):
            self.mean = self.mean + (key.astype(SINGLE) - self.mean) / np.float32(self.count)
        self.count += 1


class Halves(Summary):
    """Gives each new key half the weight."""

    def add(self, key: Array) -> None:
        """Take one key."""
        self.count += 1
        self.mean = (self.mean + key.astype(SINGLE)) / 2 if self.count > 1 else key.astype(SINGLE)
