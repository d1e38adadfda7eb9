"""Lesson 10: eight reported bugs, each rebuilt in a few lines of our own. Graded runs may read it.

No keys here, and values in one case alone: most take tokens and tell which of them are seen. What
attention does with these is the same everywhere; who is seen is what the bugs get wrong. Nothing
here is a project's code, and each says which report it is after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "HalfWindow",
    "LastKeys",
    "LostKeep",
    "PaddedRing",
    "Pool",
    "RollingStart",
    "TextFlag",
    "TwoWindows",
]

Token = Any
Rows = list[list[Token]]


class TwoWindows:
    """Several tokens go through a mask, one alone through a buffer (ml-explore/mlx-lm#390)."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.held: list[Token] = []  # the last `window` tokens

    def step(self, tokens: Sequence[Token]) -> Rows:
        """Take the next tokens; give, for each, the tokens that it sees."""
        keys = [*self.held, *tokens]
        rows = []
        for query in range(len(self.held), len(keys)):
            if len(tokens) > 1:
                rows.append([keys[key] for key in range(query + 1) if query - key <= self.window])
            else:
                rows.append(keys[-self.window :])
        self.held = keys[-self.window :]
        return rows


class RollingStart:
    """A ring that reads `count` slots from `start` on (huggingface/transformers#47708)."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.slots: list[Token] = [None] * window
        self.length = 0  # tokens so far

    def write(self, token: Token) -> None:
        """Store the next token."""
        self.slots[self.length % self.window] = token
        self.length += 1

    def read(self) -> list[Token]:
        """Give the last `window` tokens, the oldest first: the kernel counts on the order."""
        count = min(self.length, self.window)
        start = self.length % self.window
        return [self.slots[(start + n) % self.window] for n in range(count)]


class LastKeys:
    """A buffer that is cut to its last `window` keys (lablup/mlxcel#405)."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.held: list[tuple[int, float]] = []  # (position, value), at most `window` of them
        self.seen = 0  # tokens so far

    def step(self, values: Sequence[float]) -> list[float]:
        """Take the next values; give, for each, the mean of what it sees."""
        queries = range(self.seen, self.seen + len(values))
        keys = [*self.held, *zip(queries, values, strict=True)][-self.window :]
        means = []
        for query in queries:
            seen = [value for key, value in keys if 0 <= query - key < self.window]
            means.append(sum(seen) / len(seen) if seen else float("nan"))
        self.held = keys
        self.seen += len(values)
        return means


class HalfWindow:
    """A query's position meets the places of a buffer (Blaizzy/mlx-vlm#1138)."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.buffer: list[Token] = []  # the last `window` tokens, the oldest first
        self.seen = 0  # tokens so far

    def append(self, token: Token) -> None:
        """Store the next token."""
        self.buffer = [*self.buffer, token][-self.window :]
        self.seen += 1

    def held(self) -> list[Token]:
        """Give the tokens that are held."""
        return list(self.buffer)

    def mask(self) -> list[bool]:
        """Say of each token held whether the newest one sees it."""
        query = self.seen - 1
        return [0 <= query - place < self.window for place in range(len(self.buffer))]


class TextFlag:
    """A ring that is saved with a header of texts (ml-explore/mlx-lm#1250)."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.slots: list[Token] = [None] * window
        self.index = 0  # the slot of the next write
        self.rotated = False  # whether the index has come back to 0

    def step(self, tokens: Sequence[Token]) -> Rows:
        """Take the next tokens; give, for each, the tokens that it sees."""
        rows = []
        for token in tokens:
            self.slots[self.index] = token
            self.index = (self.index + 1) % self.window
            self.rotated = self.rotated or self.index == 0
            rows.append(self.slots[:] if self.rotated else self.slots[: self.index])
        return rows

    def save(self) -> tuple[list[Token], dict[str, str]]:
        """Give the slots, and a header of texts, as files have it."""
        header = {"window": self.window, "index": self.index, "rotated": self.rotated}
        return self.slots[:], {name: str(value) for name, value in header.items()}

    @classmethod
    def load(cls, saved: tuple[list[Token], dict[str, str]]) -> TextFlag:
        """Make a cache from what `save` gave."""
        slots, header = saved
        cache = cls(int(header["window"]))
        cache.slots = slots[:]
        cache.index = int(header["index"])
        cache.rotated = bool(header["rotated"])
        return cache


class PaddedRing:
    """A batch of rings with one cursor (ml-explore/mlx-lm#439)."""

    def __init__(self, window: int, rows: int) -> None:
        self.window = window
        self.slots: list[list[Token]] = [[None] * window for _ in range(rows)]
        self.written = 0  # columns so far

    def step(self, chunk: Sequence[Sequence[Token]]) -> list[Rows]:
        """Take a list of tokens for each row, all as long; None is padding and sees nothing."""
        seen: list[Rows] = [[] for _ in self.slots]
        for column in zip(*chunk, strict=True):
            slot = self.written % self.window
            self.written += 1
            for row, token in enumerate(column):
                self.slots[row][slot] = token
                held = [key for key in self.slots[row] if key is not None]
                seen[row].append(held if token is not None else [])
        return seen


class LostKeep:
    """A cache that keeps its first tokens, and goes through batches (ml-explore/mlx-lm#1631)."""

    def __init__(self, window: int, keep: int = 0) -> None:
        self.window, self.keep = window, keep
        self.first: list[Token] = []  # the first `keep` tokens, which never leave
        self.last: list[Token] = []  # the last `window` of the others

    def step(self, tokens: Sequence[Token]) -> Rows:
        """Take the next tokens; give, for each, the tokens that it sees."""
        rows = []
        for token in tokens:
            if len(self.first) < self.keep:
                self.first.append(token)
            else:
                self.last = [*self.last, token][-self.window :]
            rows.append(self.first + self.last)
        return rows

    @classmethod
    def merge(cls, caches: Sequence[LostKeep]) -> list[Any]:
        """Put caches into one batch."""
        return [(cache.window, cache.first + cache.last) for cache in caches]

    @classmethod
    def extract(cls, batch: list[Any], row: int) -> LostKeep:
        """Take one cache out of a batch again."""
        window, tokens = batch[row]
        cache = cls(window)
        cache.step(tokens)
        return cache


class Pool:
    """Sequences that share slots; a window slides when its sequence works (ollama/ollama#12543)."""

    def __init__(self, window: int, slots: int) -> None:
        self.window, self.slots = window, slots
        self.held: dict[str, list[Token]] = {}

    def step(self, work: Mapping[str, Sequence[Token]]) -> dict[str, Rows]:
        """Take the next tokens of some sequences; give, for each, what its tokens see."""
        for name in work:
            self.held[name] = self.held.get(name, [])[-self.window :]
        wanted = sum(len(tokens) for tokens in work.values())
        if sum(len(tokens) for tokens in self.held.values()) + wanted > self.slots:
            raise RuntimeError("no slot is free")
        rows = {}
        for name, tokens in work.items():
            keys = [*self.held[name], *tokens]
            ends = range(len(self.held[name]) + 1, len(keys) + 1)
            rows[name] = [keys[max(0, end - self.window) : end] for end in ends]
            self.held[name] = keys
        return rows
