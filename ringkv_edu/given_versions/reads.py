"""Caches that take single tokens and are read, masked, or saved and loaded."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

from .steps import ALL, ORDERS, Seen

__all__ = ["masks", "reads", "saves"]

# (the last `window` tokens, window) -> what is given in their place
READ: dict[str, Callable[[Seen, int], Seen]] = {
    "empty slot": lambda seen, window: [None, *seen[1:]],
    "out of order": lambda seen, window: seen[1:] + seen[:1],
    "newest twice": lambda seen, window: [*seen[1:], *seen[-1:]],
    "oldest missing": lambda seen, window: seen[1:],
    "newest missing": lambda seen, window: seen[:-1],
    "empty slots too": lambda seen, window: seen + [None] * (window - len(seen)),
}
# (tokens so far, window) -> how many of the newest the mask lets through
MASKS: dict[str, Callable[[int, int], int]] = {
    "": min,
    "half": lambda length, window: max(0, min(length, window, 2 * window - length)),
    "half, never empty": lambda length, window: max(1, min(length, window, 2 * window - length)),
    "one less": lambda length, window: min(length, window - 1),
    "nothing": lambda length, window: 0,
    "all that is held": lambda length, window: length,
    "one behind": min,  # and the newest is not among them
}
# (the last `window` tokens, window) -> what a loaded cache takes for its text
LOADED: dict[str, Callable[[Seen, int], Seen]] = {
    "empty slots": lambda seen, window: [None] * (window - len(seen)) + seen,
    "nothing": lambda seen, window: [],
    "newest missing": lambda seen, window: seen[:-1],
    "turned": lambda seen, window: seen[1:] + seen[:1],
}


def reads(fault: str = "", windows: Container[int] = ALL, lengths: Container[int] = ALL) -> type:
    """Make a class with `write(token)` and `read()`; the fault shows at these lengths of text."""

    class Version:
        def __init__(self, window: int) -> None:
            self._window = window
            self._text: Seen = []

        def write(self, token: Any) -> None:
            self._text.append(token)

        def read(self) -> Seen:
            seen = self._text[-self._window :]
            if fault and self._window in windows and len(self._text) in lengths:
                seen = READ[fault](seen, self._window)
            return seen

    return Version


def masks(
    fault: str = "",
    windows: Container[int] = ALL,
    lengths: Container[int] = ALL,
    spare: int = 0,
    order: str = "oldest first",
) -> type:
    """Make a class with `append(token)`, `held()` and `mask()`, which holds `spare` more tokens."""

    class Version:
        def __init__(self, window: int) -> None:
            self._window = window
            self._text: Seen = []

        def append(self, token: Any) -> None:
            self._text.append(token)

        def held(self) -> Seen:
            return [self._text[place] for place in self._places()]

        def mask(self) -> list[bool]:
            length = len(self._text)
            wrong = fault if self._window in windows and length in lengths else ""
            sees = MASKS[wrong](length, self._window)
            end = length - (wrong == "one behind" and length > sees)
            return [end - sees <= place < end for place in self._places()]

        def _places(self) -> list[int]:
            first = max(0, len(self._text) - self._window - spare)
            return list(ORDERS[order](list(range(first, len(self._text)))))

    return Version


def saves(
    fault: str = "",
    windows: Container[int] = ALL,
    lengths: Container[int] = ALL,
    order: str = "oldest first",
    lazy: bool = False,
) -> type:
    """Make a class with `step(tokens)`, `save()` and `load(saved)`.

    The fault shows in what was saved at these lengths of text. A `lazy` one that has done nothing
    since it was loaded saves what it was loaded from.
    """

    class Version:
        def __init__(self, window: int) -> None:
            self._window, self._loaded = window, None
            self._text: Seen = []

        def step(self, tokens: Sequence[Any]) -> list[Any]:
            self._loaded = None
            rows = []
            for token in tokens:
                self._text.append(token)
                rows.append(ORDERS[order](self._text[-self._window :]))
            return rows

        def save(self) -> Any:
            return self._loaded or {"text": tuple(self._text), "window": str(self._window)}

        @classmethod
        def load(cls, saved: Any) -> Version:
            cache = cls(int(saved["window"]))
            cache._text = list(saved["text"])
            if fault and cache._window in windows and len(cache._text) in lengths:
                cache._text = LOADED[fault](cache._text[-cache._window :], cache._window)
            cache._loaded = saved if lazy else None
            return cache

    return Version
