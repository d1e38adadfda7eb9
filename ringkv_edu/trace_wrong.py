"""What is wrong with a cache at one step, found from what it did and the one rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .trace_surface import EMPTY
from .visibility import visible

__all__ = ["Rule", "Wrong", "found", "in_words"]

TWICE = 1.5  # a weight so many times the least one counts a token more than once


@dataclass(frozen=True)
class Rule:
    """What a query should see: the last ``window`` positions and ``sinks`` first ones, or all."""

    window: int | None = None  # None: everything
    sinks: int = 0
    folds: bool = False  # what leaves the window is in a summary, and so still counts
    known: bool = True  # else the cache does not say, and nobody can tell what is lost

    def sees(self, query: int, key: int) -> bool:
        """Say whether a query should see a key's token."""
        if self.window is None or self.folds:
            return 0 <= key <= query
        return visible(query, key, self.window, self.sinks)


@dataclass(frozen=True)
class Wrong:
    """One mistake: its kind, the slot (-1: none), the token's position, and what is said of it.

    ``label``: the slot says position ``says`` of the token at ``position``. ``unwritten``: nothing
    was ever stored in it, and it says position ``says``. ``lost``: the token is still due and lies
    in no slot. ``stale``: the token left the window and is still seen. ``unseen``: it is stored
    and due, and not seen. ``twice``: its weight is ``says`` times that of others, rounded.
    """

    kind: str
    slot: int
    position: int
    says: int = 0


def found(
    rule: Rule,
    query: int,
    slots: Sequence[int],
    held: Sequence[int],
    summarised: Sequence[tuple[int, int, float]],
    weights: dict[int, float] | None,
) -> tuple[Wrong, ...]:
    """Give what is wrong after the token at ``query``; what it says of its slots comes first."""
    wrong = [
        Wrong("unwritten", slot, EMPTY, says) if token == EMPTY
        else Wrong("label", slot, token, says)
        for slot, (says, token) in enumerate(zip(slots, held, strict=True))
        if says not in (EMPTY, token)
    ]  # fmt: skip
    if not rule.known:
        return tuple(wrong)
    kept = set(held) | {p for a, b, _ in summarised for p in range(a, b + 1)}
    due = [p for p in range(query + 1) if rule.sees(query, p)]
    lost = [p for p in due if p not in kept]
    wrong += [Wrong("lost", EMPTY, p) for p in lost]
    if weights is None:
        seen = {says for says in slots if says != EMPTY} | (kept - set(held))
    else:
        seen = set(weights)
        least = min(weights.values(), default=1.0)
        for p, weight in weights.items():
            if weight > TWICE * least:
                wrong.append(Wrong("twice", EMPTY, p, round(weight / least)))
        named = {one.position for one in wrong}  # a wrong label hides a token, or shows another
        hidden = [p for p in due if p in kept and p not in seen and p not in named]
        wrong += [Wrong("unseen", _slot(held, p), p) for p in hidden]
    stale = sorted(p for p in seen if not rule.sees(query, p) and p <= query)
    wrong += [Wrong("stale", _slot(held, p), p) for p in stale]
    return tuple(wrong)


def in_words(wrong: Wrong, query: int) -> str:
    """Say one mistake as a sentence."""
    back, slot, p = query - wrong.position, wrong.slot, wrong.position
    if wrong.kind == "label":
        taken = query - wrong.says
        like = f"{taken} back" if taken >= 0 else f"{-taken} ahead, a future token"
        return (
            f"slot {slot} holds position {p} and says {wrong.says}: {back} back is taken for {like}"
        )
    if wrong.kind == "unwritten":
        return f"slot {slot} holds nothing and says position {wrong.says}"
    say: dict[str, Any] = {
        "lost": f"position {p}, {back} back, should still be seen and lies in no slot",
        "stale": f"position {p}, {back} back, has left the window and is still seen",
        "unseen": f"position {p}, {back} back, lies in slot {slot} and is not seen",
        "twice": f"position {p} counts {wrong.says} times",
    }
    return str(say[wrong.kind])


def _slot(held: Sequence[int], position: int) -> int:
    return held.index(position) if position in held else EMPTY
