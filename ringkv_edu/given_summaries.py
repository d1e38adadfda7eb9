"""What lesson 06 starts from: two caches of an article, bugs and all, and a bank of means.

``SlidingWindowCache`` and ``PrefixSlidingCache`` behave as the programs printed in article D do
(S32, S33; what they print is D2 to D4). They are exhibits: nothing else may use them. Graded runs
may read this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Bank", "PrefixSlidingCache", "SlidingWindowCache"]

Array = npt.NDArray[Any]


class SlidingWindowCache:
    """The article's first demo (S32): the oldest token goes, now and then a summary is due.

    ``window``: the tokens held. ``points``: one number for each summary that was due.
    ``after_eviction``: the window's length, noted whenever a token has just gone.
    """

    def __init__(self, window_size: int, summary_interval: int) -> None:
        self.window_size, self.summary_interval = window_size, summary_interval
        self.window: list[Any] = []
        self.points: list[int] = []
        self.after_eviction: list[int] = []

    def add(self, token: Any) -> None:
        """Take one token."""
        if len(self.window) == self.window_size:
            self.window.pop(0)
            self.after_eviction.append(len(self.window))
        self.window.append(token)
        if len(self.window) % self.summary_interval == 0:
            self.points.append(len(self.window))


class PrefixSlidingCache:
    """The article's second demo (S33): a summary of what the window holds, every few tokens.

    ``window``: the positions held. ``summaries``: (first, last) position of each summary, both
    included. Attention is meant to see the window and all summaries.
    """

    def __init__(self, window_size: int, compress_every: int) -> None:
        self.window_size, self.compress_every = window_size, compress_every
        self.window: list[int] = []
        self.summaries: list[tuple[int, int]] = []
        self.steps = 0

    def add(self, position: int) -> None:
        """Take one token."""
        self.steps += 1
        self.window.append(position)
        if len(self.window) > self.window_size:
            self.window.pop(0)
        if self.steps % self.compress_every == 0:
            self.summaries.append((self.window[0], self.window[-1]))


class Bank:
    """Room for ``slots`` summaries, two or more, oldest first. Nothing here decides anything yet.

    ``means``: for each summary the mean of its vectors, an array. ``counts``: how many they are.
    ``block``: how many vectors a summary takes before the next one begins.
    """

    def __init__(
        self,
        slots: int,
        block: int,
        means: Sequence[npt.ArrayLike] = (),
        counts: Sequence[int] = (),
    ) -> None:
        self.slots, self.block = slots, block
        self.means: list[Array] = [np.array(mean, dtype=np.float64) for mean in means]
        self.counts: list[int] = list(counts)

    def __repr__(self) -> str:
        means = [mean.tolist() for mean in self.means]
        return (
            f"<bank of {self.slots}, blocks of {self.block}: counts {self.counts}, means {means}>"
        )
