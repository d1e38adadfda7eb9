"""Lesson 04, case file: right and wrong ways to know the next position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .model import answers


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


def changed(**methods: Callable[..., Any]) -> dict[str, Any]:
    """Make a mutant of ``LayerCache`` that has other methods."""
    return answers(LayerCache=type("LayerCache", (LayerCache,), methods))


def counts_each_twice(cache: LayerCache, word: str, position: int) -> None:
    LayerCache.append(cache, word, position)
    cache.seen += 1


def counts_none(cache: LayerCache, word: str, position: int) -> None:
    LayerCache.append(cache, word, position)
    cache.seen -= 1


def stores_from_one(cache: LayerCache, word: str, position: int) -> None:
    LayerCache.append(cache, word, cache.seen + 1)


def keeps_all(cache: LayerCache, word: str, position: int) -> None:
    cache.stored.append((word, position))
    cache.seen += 1


def counts_when_asked(cache: LayerCache) -> int:
    asked: int = getattr(cache, "asked", 0)
    cache.asked = asked + 1  # type: ignore[attr-defined]
    return asked


SATURATES = changed(length=lambda cache: len(cache.stored))


def shared_counter() -> type[LayerCache]:
    """Give a class whose caches count together, as right after its cell was run."""
    counted = [0]

    def append(cache: LayerCache, word: str, position: int) -> None:
        LayerCache.append(cache, word, position)
        counted[0] += 1

    made: type[LayerCache] = changed(append=append, length=lambda cache: counted[0])["LayerCache"]
    return made


class Fresh(Mapping[str, Any]):
    """A mutant's answer that is made anew, with a state of its own, whenever it is asked for."""

    def __init__(self, **makers: Callable[[], Any]) -> None:
        self.makers = makers

    def __getitem__(self, name: str) -> Any:
        return self.makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)


def counts_itself(cache: LayerCache, words: Sequence[str]) -> None:
    for position, word in enumerate(words):
        cache.append(word, position)


def counts_twice(cache: LayerCache, words: Sequence[str]) -> None:
    for place, word in enumerate(words):
        cache.append(word, cache.length() + place)


def counts_on(cache: LayerCache, words: Sequence[str]) -> None:
    for position, word in enumerate(words, cache.size()):
        cache.append(word, position)


def counts_for_the_cache(cache: LayerCache, words: Sequence[str]) -> None:
    for word in words:
        cache.append(word, cache.length())
        cache.seen += 1


def empties_words(cache: LayerCache, words: list[str]) -> None:
    while words:
        cache.append(words.pop(0), cache.length())
