"""Lesson 04, case file: a length that stops at W (after huggingface/transformers#38156)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["LENGTH"]


class LayerCache:
    """Keep the newest ``window_size`` tokens as (word, position), oldest first."""

    def __init__(self, window_size: int) -> None:
        self.window_size = window_size
        self.stored: list[tuple[str, int]] = []
        self.seen = 0

    def append(self, word: str, position: int) -> None:
        """Store one token; let the oldest go once there are too many."""
        self.stored.append((word, position))
        if len(self.stored) > self.window_size:
            self.stored.pop(0)
        self.seen += 1

    def size(self) -> int:
        """Count the tokens stored now."""
        return len(self.stored)

    def length(self) -> int:
        """Give the length of the text so far: the position of the next token."""
        return self.seen


def feed(cache: LayerCache, words: Sequence[str]) -> None:
    """Read words; each stands at the next position."""
    for word in words:
        cache.append(word, cache.length())


def _length(length: Callable[[LayerCache], int]) -> dict[str, Any]:
    """Make a mutant of ``LayerCache`` with another ``length``."""
    return answers(LayerCache=type("LayerCache", (LayerCache,), {"length": length}))


class _CountedTwice(LayerCache):
    def append(self, word: str, position: int) -> None:
        super().append(word, position)
        self.seen += 1


class _SizeIsSeen(LayerCache):
    def size(self) -> int:
        return self.seen


class _NeverEvicts(LayerCache):
    def __init__(self, window_size: int) -> None:
        super().__init__(10**9)


class _PositionFromOne(LayerCache):
    def append(self, word: str, position: int) -> None:
        super().append(word, self.seen + 1)


class _Saturates(LayerCache):
    def length(self) -> int:
        return len(self.stored)


def _counts_itself(cache: LayerCache, words: Sequence[str]) -> None:
    for position, word in enumerate(words):
        cache.append(word, position)


def _counts_twice(cache: LayerCache, words: Sequence[str]) -> None:
    for place, word in enumerate(words):
        cache.append(word, cache.length() + place)


def _counts_on(cache: LayerCache, words: Sequence[str]) -> None:
    for position, word in enumerate(words, cache.size()):
        cache.append(word, position)


def _length_cases(rng: Random) -> list[Case]:
    window = rng.randrange(2, 6)
    runs = [
        (4, (3,)),
        (4, (6,)),
        (4, (2, 1, 1, 1, 1, 5)),
        (1, (1, 3)),
        (window, tuple(rng.randrange(1, 2 * window) for _ in range(5))),
    ]
    return [_length_case(*run) for run in runs]


def _length_case(window: int, chunks: tuple[int, ...]) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        cache, seen, out = answer.LayerCache(window), 0, {}
        for chunk in chunks:
            answer.feed(cache, [f"w{n}" for n in range(seen, seen + chunk)])
            seen += chunk
            out[f"stored after {seen} words"] = [list(pair) for pair in cache.stored]
            out[f"size() after {seen} words"] = cache.size()
            out[f"length() after {seen} words"] = cache.length()
        return out

    calls = ", then ".join(str(chunk) for chunk in chunks)
    return Case(f"window {window}; feed gets {calls} words (w0, w1, ...)", run)


LENGTH = Exercise(
    id="case04-length",
    names=("LayerCache", "feed"),
    cases=_length_cases,
    reference=answers(LayerCache, feed),
    mutants=(
        Mutant(
            "saturates",
            "length() still counts the stored tokens: that stops at the window, and every later "
            "token gets the same position",
            answers(LayerCache=_Saturates),
        ),
        Mutant(
            "wraps",
            "length() begins again at 0 after each round: that is the next slot, not the next "
            "position",
            _length(lambda cache: cache.seen % cache.window_size),
        ),
        Mutant(
            "one-too-far",
            "length() is one too large, so the first token stands at position 1",
            _length(lambda cache: cache.seen + 1),
        ),
        Mutant(
            "newest",
            "length() gives the newest position: the next token stands one further",
            _length(lambda cache: max((p for _, p in cache.stored), default=0)),
        ),
        Mutant(
            "one-too-few",
            "length() is one too small, so the first token stands at position -1",
            _length(lambda cache: cache.seen - 1),
        ),
        Mutant(
            "stored-from-one",
            "append stores a position one too large: it counts the token before noting where "
            "it stands",
            answers(LayerCache=_PositionFromOne),
        ),
        Mutant(
            "counted-twice",
            "each token is counted twice",
            answers(LayerCache=_CountedTwice),
        ),
        Mutant(
            "size-grows",
            "size() now gives the length of the text: it must still count what is stored",
            answers(LayerCache=_SizeIsSeen),
        ),
        Mutant(
            "never-evicts",
            "nothing is let go: the positions are right, and memory grows for ever",
            answers(LayerCache=_NeverEvicts),
        ),
        Mutant(
            "feed-restarts",
            "feed numbers its own words from 0: its second call begins at position 0 again",
            answers(feed=_counts_itself),
        ),
        Mutant(
            "feed-alone",
            "feed numbers the words itself, and length() is as it was: it must be mended, since "
            "the next call, and other code, go by it",
            answers(LayerCache=_Saturates, feed=_counts_itself),
        ),
        Mutant(
            "feed-from-size",
            "feed counts on by itself, and length() is as it was: a call that comes after the ring "
            "is full begins at the window again",
            answers(LayerCache=_Saturates, feed=_counts_on),
        ),
        Mutant(
            "feed-counts-too",
            "feed adds a count of its own to a length that grows by itself",
            answers(feed=_counts_twice),
        ),
    ),
)
