"""The policies that a learner's own is measured against; they hold the answers of lesson 11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .memory import Memory, entry_bytes

__all__ = ["RIVALS", "Retrieval", "best", "fewer_bits", "keep_all", "scored", "sinks", "summaries",
           "window"]  # fmt: skip

SINKS, RECENT, GROUP, FETCHED = 6, 4, 8, 4


def keep_all(memory: Memory) -> None:
    """Keep everything; no budget holds it for long, so it plays without one."""


def window(memory: Memory) -> None:
    """Keep the newest tokens that fit."""
    while memory.used > memory.budget:
        memory.drop(memory.entries[0])


def sinks(memory: Memory) -> None:
    """Keep the first tokens for ever, and the newest that fit beside them (2309.17453)."""
    while memory.used > memory.budget:
        later = [e for e in memory.entries if e.position >= SINKS] or memory.entries
        memory.drop(later[0])


def summaries(memory: Memory) -> None:
    """Fold the oldest tokens, eight at a time, into a mean; the oldest means go last of all."""
    while memory.used > memory.budget:
        single = [entry for entry in memory.entries if entry.count == 1]
        folded = [entry for entry in memory.entries if entry.count > 1]
        if len(single) > GROUP:
            memory.fold(single[:GROUP])
        elif len(folded) > 1:
            memory.fold(folded[:2])
        else:
            memory.drop(memory.entries[0])


def scored(memory: Memory) -> None:
    """Keep the newest four and whatever else has drawn the most attention (2306.14048)."""
    while memory.used > memory.budget:
        older = memory.entries[:-RECENT] or memory.entries
        memory.drop(min(older, key=lambda entry: entry.mass))


def _narrowed(memory: Memory) -> bool:
    """Round the oldest of the widest entries but the newest; False when all have 4 bits."""
    older = memory.entries[:-1]
    widest = max([entry.bits for entry in older], default=4)
    if widest > 4:
        memory.shrink(next(e for e in older if e.bits == widest), 8 if widest > 8 else 4)
    return widest > 4


def fewer_bits(memory: Memory) -> None:
    """Round the oldest to 8 bits, then to 4, before anything is dropped."""
    while memory.used > memory.budget:
        if not _narrowed(memory):
            memory.drop(memory.entries[0])


class Retrieval:
    """A short window; for each question the archive's best entries are brought back (S41)."""

    def __call__(self, memory: Memory) -> None:
        """Leave room for what a question will need."""
        room = FETCHED * entry_bytes(32)
        while memory.used > max(memory.budget - room, entry_bytes(32)):
            memory.drop(memory.entries[0])

    def fetch(self, memory: Memory, query: Any) -> None:
        """Bring back the entries that score highest with the query, as many as fit."""
        scores = memory.search(query)
        found = [memory.archive[at] for at in np.argsort(-scores, kind="stable")]
        for entry in found:
            if memory.used + entry.nbytes > memory.budget:
                break
            memory.fetch(entry)


def best(memory: Memory) -> None:
    """Facts alone, the newest of each name, in as few bits as the budget asks for."""
    *older, newest = memory.entries
    said = {e.text.partition("=")[0]: e for e in memory.entries if "=" in e.text}
    for entry in older:
        if entry not in said.values():
            memory.drop(entry)
    while memory.used > memory.budget:
        if _narrowed(memory):
            continue
        small_talk = "=" not in newest.text
        memory.drop(newest if small_talk else min(memory.entries[:-1], key=lambda e: e.mass))


RIVALS: dict[str, Callable[[], Callable[[Memory], Any]]] = {
    "window": lambda: window,
    "window + sinks": lambda: sinks,
    "summaries": lambda: summaries,
    "by score": lambda: scored,
    "fewer bits": lambda: fewer_bits,
    "retrieval": Retrieval,
}
"""Each makes a policy for one play."""
