"""Traces as plain data, of each step only what changed: small, and the same in every language.

A step has ``set``, a list of ``[slot, position]`` for the slots that changed; ``held`` the same for
the tokens that really lie there, where they are others; ``slots`` where their number changed;
``seen`` and positions that left as runs ``[first, last]``; and what else is not as usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .trace_surface import EMPTY
from .trace_wrong import Wrong, in_words

__all__ = ["EMPTY", "Step", "Trace"]

VERSION = 2
Row = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One appended token, and the memory after it."""

    position: int
    text: str
    slots: tuple[int, ...]  # the position that each slot says it holds, -1 when empty
    written: tuple[int, ...]  # the slots that changed
    evicted: tuple[int, ...]  # the positions that were there before and are nowhere now
    held: tuple[int, ...] = ()  # the token that really lies in each slot, -1 when none does
    seen: tuple[int, ...] | None = None  # what a query at this token sees; None: it was not asked
    summaries: tuple[tuple[int, int, float], ...] = ()  # first and last position, centre
    nbytes: int = 0  # 0: the cache does not say
    wrong: tuple[Wrong, ...] = ()


@dataclass(frozen=True)
class Trace:
    """Everything a cache did. ``problem`` says in words where it stopped, or is empty.

    ``window`` and ``sinks`` are what the cache says of itself; ``window`` None: it keeps all.
    ``rows``: the traces of a batch's other rows. ``page``: slots of a page, where there are pages.
    """

    name: str
    steps: tuple[Step, ...]
    problem: str = ""
    window: int | None = None
    sinks: int = 0
    rows: tuple[Trace, ...] = ()
    page: int = 0
    version: int = VERSION

    @property
    def slot_count(self) -> int:
        """The most slots that were ever in memory."""
        return max((len(step.slots) for step in self.steps), default=0)

    @property
    def mistake(self) -> str:
        """What is wrong first, in words, or an empty text."""
        for step in self.steps:
            if step.wrong:
                return f"step {step.position}: {in_words(step.wrong[0], step.position)}"
        return self.problem

    def __str__(self) -> str:
        window = f", window {self.window}" if self.window else ""
        wrong = f"; {self.mistake}" if self.mistake else ""
        return f"{self.name}{window}, {len(self.steps)} steps{wrong}"

    def in_words(self, step: int) -> str:
        """Say what the cache holds after so many steps, and what is wrong with it there."""
        if not 0 < step <= len(self.steps):
            return f"{self}: nothing is stored yet."
        now = self.steps[step - 1]
        slots = ", ".join(
            f"slot {slot} position {p}" for slot, p in enumerate(now.held[:40]) if p != EMPTY
        )
        wrong = "".join(f" {in_words(one, now.position)}." for one in now.wrong[:3])
        return f"{self.name} after position {now.position}: {slots}.{wrong}"

    def to_dict(self) -> dict[str, Any]:
        """Give plain data that ``json.dumps`` takes: of each step only what changed."""
        steps, before = [], Step(-1, "", (), (), ())
        for step in self.steps:
            steps.append(_packed(step, before))
            before = step
        return {
            "version": VERSION, "name": self.name, "window": self.window, "sinks": self.sinks,
            "problem": self.problem, "steps": steps, "rows": [row.to_dict() for row in self.rows],
            **({"page": self.page} if self.page else {}),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """Rebuild a trace; raises ``ValueError`` for a version this release does not know."""
        if data.get("version") != VERSION:
            raise ValueError(f"trace version {data.get('version')!r}; this release reads {VERSION}")
        steps, slots, held = [], list[int](), list[int]()
        for packed in data["steps"]:
            for row in (slots, held):
                n = packed.get("slots", len(row))
                row[n:] = [EMPTY] * (n - len(row))
            for slot, position in packed["set"]:
                slots[slot] = position
            for slot, position in packed.get("held", packed["set"]):
                held[slot] = position
            steps.append(_unpacked(packed, tuple(slots), tuple(held)))
        rows = tuple(cls.from_dict(row) for row in data["rows"])
        named = {name: data[name] for name in ("name", "problem", "window", "sinks")}
        return cls(steps=tuple(steps), rows=rows, page=data.get("page", 0), **named)


def _runs(positions: Iterable[int]) -> list[list[int]]:
    """Give sorted positions as runs: 0 1 2 7 8 is [0, 2] [7, 8]."""
    found: list[list[int]] = []
    for p in positions:
        if found and p == found[-1][1] + 1:
            found[-1][1] = p
        else:
            found.append([p, p])
    return found


def _packed(step: Step, before: Step) -> dict[str, Any]:
    changed, held = _changes(step.slots, before.slots), _changes(step.held, before.held)
    packed: dict[str, Any] = {"p": step.position, "text": step.text, "set": changed}
    if len(step.slots) != len(before.slots):
        packed["slots"] = len(step.slots)
    if held != changed:
        packed["held"] = held
    if step.seen is not None:
        packed["seen"] = _runs(step.seen)
    several = {
        "gone": _runs(step.evicted), "sum": [list(one) for one in step.summaries],
        "bytes": step.nbytes, "wrong": [asdict(one) for one in step.wrong],
    }  # fmt: skip
    return packed | {name: value for name, value in several.items() if value}


def _changes(after: Sequence[int], before: Sequence[int]) -> list[list[int]]:
    padded = [*before, *[EMPTY] * (len(after) - len(before))]
    return [[slot, p] for slot, p in enumerate(after) if p != padded[slot]]


def _unpacked(packed: dict[str, Any], slots: Row, held: Row) -> Step:
    seen = packed.get("seen")
    return Step(
        packed["p"], packed["text"], slots, tuple(slot for slot, _ in packed["set"]),
        _flat(packed.get("gone", [])), held, None if seen is None else _flat(seen),
        tuple((first, last, centre) for first, last, centre in packed.get("sum", [])),
        packed.get("bytes", 0), tuple(Wrong(**one) for one in packed.get("wrong", [])),
    )  # fmt: skip


def _flat(pairs: Iterable[Sequence[int]]) -> Row:
    return tuple(p for first, last in pairs for p in range(first, last + 1))
