"""Lesson 06: right and wrong ways to say when a summary is due."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .model import answers


class SlidingWindowCache:
    """Keep the newest ``window_size`` tokens; note the token count whenever a summary is due."""

    def __init__(self, window_size: int, summary_interval: int) -> None:
        self.window_size, self.summary_interval = window_size, summary_interval
        self.window: list[Any] = []
        self.points: list[int] = []
        self.seen = 0

    def add(self, token: Any) -> None:
        """Take one token."""
        self.store(token)
        self.seen += 1
        self.note(self.seen, self.seen)

    def store(self, token: Any) -> None:
        """Put a token into the window; let the oldest go."""
        if len(self.window) == self.window_size:
            self.window.pop(0)
        self.window.append(token)

    def note(self, number: int, shown: int) -> None:
        """Note ``shown`` when a summary is due at ``number``."""
        if number % self.summary_interval == 0:
            self.points.append(shown)


Cache = SlidingWindowCache


def changed(**methods: Callable[..., Any]) -> dict[str, Any]:
    """Make a mutant of ``SlidingWindowCache`` that has other methods."""
    return answers(SlidingWindowCache=type("SlidingWindowCache", (Cache,), methods))


def noting(number: Callable[[Cache], int], shown: Callable[[Cache], int]) -> dict[str, Any]:
    """Make a mutant from the number that triggers and the number that is noted."""

    def add(cache: Cache, token: Any) -> None:
        cache.store(token)
        cache.seen += 1
        cache.note(number(cache), shown(cache))

    return changed(add=add)


def length(cache: Cache) -> int:
    return len(cache.window)


def seen(cache: Cache) -> int:
    return cache.seen


def is_full(cache: Cache) -> bool:
    return len(cache.window) == cache.window_size


def only(allowed: Callable[[Cache], bool]) -> dict[str, Any]:
    """Make a mutant that notes a point only where something else held before the token came."""

    def add(cache: Cache, token: Any) -> None:
        noting = allowed(cache)
        cache.store(token)
        cache.seen += 1
        if noting:
            cache.note(cache.seen, cache.seen)

    return changed(add=add)


def before(cache: Cache, token: Any) -> None:
    cache.store(token)
    cache.note(cache.seen, cache.seen)
    cache.seen += 1


def evictions(cache: Cache, token: Any) -> None:
    if len(cache.window) == cache.window_size:
        cache.seen += 1
        cache.note(cache.seen, cache.seen)
    cache.store(token)


def by_token(cache: Cache, token: Any) -> None:
    cache.store(token)
    cache.note(token, token)


def begins_again(cache: Cache, token: Any) -> None:
    cache.store(token)
    cache.seen += 1
    if cache.seen == cache.summary_interval:
        cache.points.append(cache.seen)
        cache.seen = 0


def one_more(cache: Cache, token: Any) -> None:
    cache.window.append(token)
    if len(cache.window) > cache.window_size + 1:
        cache.window.pop(0)


def one_less(cache: Cache, token: Any) -> None:
    cache.window.append(token)
    if len(cache.window) == cache.window_size:
        cache.window.pop(0)


def token_noted(cache: Cache, token: Any) -> None:
    cache.store(token)
    cache.seen += 1
    cache.note(cache.seen, token)


def emptied(cache: Cache, token: Any) -> None:
    Cache.add(cache, token)
    if cache.seen % cache.summary_interval == 0:
        cache.window = []


def shared() -> type[Cache]:
    """Give a class whose caches count together, as right after its cell was run."""
    counted = [0]

    def add(cache: Cache, token: Any) -> None:
        cache.store(token)
        counted[0] += 1
        cache.note(counted[0], counted[0])

    made: type[Cache] = changed(add=add)["SlidingWindowCache"]
    return made
