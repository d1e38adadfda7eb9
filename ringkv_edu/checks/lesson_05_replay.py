"""Lesson 05, case file: a cursor that a recording has frozen (after huggingface/candle#3728)."""

from __future__ import annotations

from random import Random
from typing import Any

import torch

from .lesson_05_common import torch_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["REPLAY"]

Tensor = torch.Tensor


class TokenRing:
    """A ring of token numbers whose write can be recorded and replayed."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.slots = torch.full((window,), -1)
        self.token = torch.zeros(1, dtype=torch.int64)
        self.seen = torch.zeros(1, dtype=torch.int64)

    def write(self) -> None:
        """Put the token into the next slot."""
        self.slots.index_copy_(0, self.seen % self.window, self.token)
        self.seen += 1

    def reset(self) -> None:
        """Start again."""
        self.slots.fill_(-1)
        self.seen.zero_()


class _HostCursor(TokenRing):
    """As reported: the cursor is a number of Python's."""

    def __init__(self, window: int) -> None:
        super().__init__(window)
        self.seen: Any = 0

    def write(self) -> None:
        self.slots[self.seen % self.window] = self.token[0]
        self.seen += 1

    def reset(self) -> None:
        self.slots.fill_(-1)
        self.seen = 0


class _HostCursorNewSlots(_HostCursor):
    def reset(self) -> None:
        self.slots = torch.full((self.window,), -1)
        self.seen = 0


class _NewCursor(TokenRing):
    def write(self) -> None:
        self.slots.index_copy_(0, self.seen % self.window, self.token)
        self.seen = self.seen + 1


class _NewCursorAfterReset(TokenRing):
    def reset(self) -> None:
        self.slots.fill_(-1)
        self.seen = torch.zeros(1, dtype=torch.int64)


class _NewSlotsAfterReset(TokenRing):
    def reset(self) -> None:
        self.slots = torch.full((self.window,), -1)
        self.seen.zero_()


class _AllNewAfterReset(TokenRing):
    def reset(self) -> None:
        self.slots = torch.full((self.window,), -1)
        self.seen = torch.zeros(1, dtype=torch.int64)


class _NewSlots(TokenRing):
    def write(self) -> None:
        here = torch.arange(self.window) == self.seen % self.window
        self.slots = torch.where(here, self.token, self.slots)
        self.seen += 1


class _ReadCursor(TokenRing):
    def write(self) -> None:
        self.slots[self.seen.item() % self.window] = self.token[0]  # type: ignore[index]
        self.seen += 1


class _NoModulo(TokenRing):
    def write(self) -> None:
        self.slots.index_copy_(0, self.seen, self.token)
        self.seen += 1


class _NotCounted(TokenRing):
    def write(self) -> None:
        self.slots.index_copy_(0, self.seen % self.window, self.token)


class _CountedFirst(TokenRing):
    def write(self) -> None:
        self.seen += 1
        self.slots.index_copy_(0, self.seen % self.window, self.token)


class _Wraps(TokenRing):
    def write(self) -> None:
        super().write()
        self.seen %= self.window


class _SlotsKept(TokenRing):
    def reset(self) -> None:
        self.seen.zero_()


class _CursorKept(TokenRing):
    def reset(self) -> None:
        self.slots.fill_(-1)


class _CursorEmpty(TokenRing):
    def reset(self) -> None:
        self.slots.fill_(-1)
        self.seen.fill_(-1)


def _replay_cases(rng: Random) -> list[Case]:
    """Draw (window, tokens after the recorded one, tokens after a reset)."""
    runs = [(4, 2, 0), (4, 6, 0), (1, 3, 0), (3, 4, 2), (4, 1, 1), (5, 12, 3)]
    runs.append((rng.randrange(2, 6), rng.randrange(6, 12), rng.randrange(2, 5)))
    eager = "ring = TokenRing(3); [(ring.token.fill_(token), ring.write()) for token in range(5)]"
    recorded = [_replay_case(*run) for run in runs]
    return [torch_case(eager, "TokenRing", _look), *recorded]


def _replay_case(window: int, tokens: int, after: int) -> Case:
    line = f"ring = TokenRing({window}); run = Recording(ring.write); {_replays(1, tokens)}"
    if after:
        line += f"; ring.reset(); {_replays(50, after)}"
    return torch_case(line, "TokenRing", _look)


def _replays(first: int, n: int) -> str:
    tokens = f"range({first}, {first + n})"
    return f"[(ring.token.fill_(token), run.replay()) for token in {tokens}]"


def _look(space: dict[str, Any]) -> dict[str, Any]:
    ring = space["ring"]
    return {"slots": ring.slots, "seen": _number(ring.seen)}


def _number(seen: Any) -> Any:
    """Give the one number of a cursor, however many axes it has."""
    return seen.reshape(-1)[0] if isinstance(seen, Tensor) and seen.numel() == 1 else seen


RESET = (
    "`reset` makes a new tensor, or a number: the recording goes on with the old one. Write into "
    "the tensor that is there, fill_ or zero_"
)

REPLAY = Exercise(
    id="case05-replay",
    names=("TokenRing",),
    cases=_replay_cases,
    reference=answers(TokenRing),
    mutants=(
        Mutant(
            "as-reported",
            "the cursor is a number of Python's: the recording keeps the one that it had, and "
            "every replay writes the same slot",
            answers(TokenRing=_HostCursor),
        ),
        Mutant(
            "as-reported-new-slots",
            "the cursor is a number of Python's: the recording keeps the one that it had, and "
            "every replay writes the same slot. `reset` must write into the slots that are there",
            answers(TokenRing=_HostCursorNewSlots),
        ),
        Mutant(
            "new-cursor",
            "`write` makes a new cursor, seen = seen + 1: each replay counts on from the old one. "
            "Count in place, seen += 1",
            answers(TokenRing=_NewCursor),
        ),
        Mutant(
            "new-slots",
            "`write` makes new slots: each replay starts from the old ones. Write into them",
            answers(TokenRing=_NewSlots),
        ),
        Mutant("reset-cursor", RESET, answers(TokenRing=_NewCursorAfterReset)),
        Mutant("reset-slots", RESET, answers(TokenRing=_NewSlotsAfterReset)),
        Mutant("reset-both", RESET, answers(TokenRing=_AllNewAfterReset)),
        Mutant(
            "read",
            "the host reads the cursor, .item() or int(), or uses it as a plain index: a number "
            "once read is frozen, so no recording allows it. Use index_copy_",
            answers(TokenRing=_ReadCursor),
        ),
        Mutant(
            "no-modulo",
            "the modulo is forgotten: the slot runs past the end of the ring",
            answers(TokenRing=_NoModulo),
        ),
        Mutant(
            "not-counted",
            "the cursor is not raised: every token goes to slot 0",
            answers(TokenRing=_NotCounted),
        ),
        Mutant(
            "counted-first",
            "the cursor is raised before it is used: the first token goes to slot 0",
            answers(TokenRing=_CountedFirst),
        ),
        Mutant(
            "seen-wraps",
            "seen begins again at 0 when the ring is full: it counts all tokens; only the slot "
            "wraps",
            answers(TokenRing=_Wraps),
        ),
        Mutant(
            "reset-slots-kept",
            "`reset` leaves the old tokens: a new ring holds -1 everywhere",
            answers(TokenRing=_SlotsKept),
        ),
        Mutant(
            "reset-cursor-kept",
            "`reset` leaves the cursor where it was: a new text begins in slot 0",
            answers(TokenRing=_CursorKept),
        ),
        Mutant(
            "reset-cursor-empty",
            "`reset` sets seen to -1: it counts tokens, so a new ring has 0",
            answers(TokenRing=_CursorEmpty),
        ),
    ),
)
