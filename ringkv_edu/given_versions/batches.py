"""Caches of several sequences: padded rows, caches that go through a batch, shared slots."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from .steps import ALL, ORDERS, Seen

__all__ = ["kept", "padded", "pools"]

BOTH = ("left", "right")


def padded(
    fault: str = "",
    windows: Container[int] = ALL,
    rows: Container[int] = ALL,
    sides: Container[str] = BOTH,
    starts: Container[int] = ALL,
    order: str = "oldest first",
) -> type:
    """Make a class of `rows` sequences with `step(chunk)`.

    The fault shows in these rows, at padding on these sides, in chunks that begin at these columns:
    "evicts": padding takes slots; "seen": it is seen as well; "sees": it sees what its row does;
    "mixed": a row sees the row before it; "short": it sees W - 1.
    """

    class Version:
        def __init__(self, window: int, rows: int) -> None:
            self._window, self._columns = window, 0
            self._texts: list[Seen] = [[] for _ in range(rows)]

        def step(self, chunk: Sequence[Sequence[Any]]) -> list[list[Any]]:
            here = self._window in windows and self._columns in starts
            self._columns += max(map(len, chunk))
            wrong = [fault if here and row in rows else "" for row in range(len(chunk))]
            return [self._row(row, tokens, wrong[row]) for row, tokens in enumerate(chunk)]

        def _row(self, row: int, tokens: Sequence[Any], wrong: str) -> list[Any]:
            out = []
            for place, token in enumerate(tokens):
                at = token is None and _side(tokens, place) in sides
                if token is not None or (at and wrong in ("evicts", "seen")):
                    self._texts[row].append(token)
                sees = token is not None or (at and wrong == "sees")
                out.append(ORDERS[order](self._seen(row, wrong)) if sees else [])
            return out

        def _seen(self, row: int, wrong: str) -> Seen:
            short = wrong == "short" and self._window > 1
            seen = self._texts[row][-self._window + short :]
            if wrong != "seen":
                seen = [token for token in seen if token is not None]
            return seen + (self._texts[row - 1][-1:] if row and wrong == "mixed" else [])

    return Version


def _side(tokens: Sequence[Any], place: int) -> str:
    return "left" if all(token is None for token in tokens[: place + 1]) else "right"


def kept(
    fault: str = "",
    windows: Container[int] = ALL,
    rows: Container[int] = ALL,
    keeps: Container[int] = ALL,
    order: str = "oldest first",
) -> type:
    """Make a class with `step(tokens)`, `merge(caches)` and `extract(batch, row)`.

    The fault shows in what is extracted: "lost" forgets `keep`, "of the first" and "of the last"
    take that of another cache, "at least one" keeps one where none was kept, "others kept" keeps
    the first tokens of what is left without the kept ones, "window lost" sees one token more.
    """

    class Version:
        def __init__(self, window: int, keep: int = 0) -> None:
            self._window, self._keep = window, keep
            self._text: Seen = []

        def step(self, tokens: Sequence[Any]) -> list[Any]:
            out = []
            for token in tokens:
                self._text.append(token)
                last = self._text[self._keep :][-self._window :]
                out.append(ORDERS[order](self._text[: self._keep] + last))
            return out

        @classmethod
        def merge(cls, caches: Sequence[Any]) -> Any:
            return [(cache._window, cache._keep, tuple(cache._text)) for cache in caches]

        @classmethod
        def extract(cls, batch: Any, row: int) -> Version:
            window, keep, text = batch[row]
            if fault and window in windows and row in rows and keep in keeps:
                last = text[keep:][-window:]
                text = last if fault == "others kept" else text[:keep] + last
                text = text[:-1] if fault == "newest missing" and last else text
                changed = {"lost": 0, "of the first": batch[0][1], "of the last": batch[-1][1]}
                keep = max(1, keep) if fault == "at least one" else changed.get(fault, keep)
                window += fault == "window lost"
            cache = cls(window, keep)
            cache._text = list(text)
            return cache

    return Version


def pools(
    fault: str = "",
    windows: Container[int] = ALL,
    sequences: Container[int] = ALL,
    spare: int = 0,
    order: str = "oldest first",
) -> type:
    """Make a class with `step(work)` that counts its slots, and holds up to `spare` fewer tokens.

    With as many sequences, "idle" leaves the windows of others as long as they are, "idle lost"
    forgets them, "full" has never room, "one short" has one slot less than it was given, "one more"
    sees a token more, and with "mixed" a token sees one of another sequence.
    """

    class Version:
        def __init__(self, window: int, slots: int) -> None:
            self._window, self._slots = window, slots
            self._texts: dict[str, Seen] = {}
            self._sizes: dict[str, int] = {}

        def step(self, work: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
            names = {*self._sizes, *work}
            wrong = fault if self._window in windows and len(names) in sequences else ""
            for name in names:
                idle = name not in work
                if not (idle and wrong == "idle"):
                    self._sizes[name] = min(self._sizes.get(name, 0), self._window - spare)
                if idle and wrong == "idle lost":
                    self._texts[name], self._sizes[name] = [], 0
            wanted = sum(self._sizes.values()) + sum(map(len, work.values()))
            if wrong == "full" or wanted > self._slots - (wrong == "one short"):
                raise RuntimeError("no slot is free")
            return {name: self._one(name, tokens, wrong) for name, tokens in work.items()}

        def _one(self, name: str, tokens: Sequence[Any], wrong: str) -> list[Any]:
            text, out = self._texts.setdefault(name, []), []
            others = [t[-1] for other, t in self._texts.items() if other != name and t]
            for token in tokens:
                text.append(token)
                seen = text[-self._window - (wrong == "one more") :]
                out.append(ORDERS[order](seen + (others[:1] if wrong == "mixed" else [])))
            self._sizes[name] += len(tokens)
            return out

    return Version
