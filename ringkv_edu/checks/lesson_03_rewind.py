"""Lesson 03: taking tokens back, or changing nothing."""

from __future__ import annotations

from random import Random
from typing import Any

from ..given_numpy import RingArrays
from . import lesson_03_rewind_mistakes as wrong
from .compare import plain
from .guard import call
from .lesson_03_common import SLIPS, filled, watched_case
from .lesson_03_rewind_mistakes import rewind
from .lesson_03_rewind_oldest_mistakes import OLDEST
from .model import Case, Exercise, Mutant, answers

__all__ = ["REWIND"]

NUMPYS = ("truth value", "broadcast", "shape", "zero-size", "min() ", "max() ")
"""What is in the texts of NumPy's own ValueErrors, and of those of an empty minimum."""


def _rewind_cases(rng: Random) -> list[Case]:
    """Draw (seen, window, sinks, slack, what happens then: take back n, or append -n)."""
    runs: list[tuple[int, ...]] = [(10, 4, 0, 0, 2)]  # the case file's rewind
    runs += [(10, 4, 0, 2, 1, -1), (10, 4, 0, 2, 2, 1), (10, 4, 0, 4, 5), (10, 4, 0, 4, 4, -1)]
    runs += [(3, 4, 0, 0, 1, -1), (4, 4, 0, 0, 3, -4), (6, 4, 0, 2, 3, -1), (7, 4, 0, 2, 3)]
    runs += [(7, 4, 0, 2, 2, -3), (9, 3, 0, 1, 0, 9, -2), (9, 3, 0, 1, 1, 0, -1)]
    runs += [(5, 1, 0, 1, 1, 1), (11, 3, 2, 2, 2, -1, 3), (12, 4, 1, 0, 1), (12, 2, 3, 1, 1, 1)]
    runs += [(12, 2, 3, 1, 1, -4, 1), (4, 3, 2, 2, 3, -2)]
    runs += [(8, 4, 0, 2, 2, 3)]  # a short text, empty slots, and needed tokens gone
    runs += [(11, 3, 2, 2, 7), (11, 3, 2, 2, 10, -3)]  # the shorter text's window has sinks in it
    runs += [(2, 2, 3, 1, 1, -2), (0, 3, 1, 1, 0, -1)]  # fewer tokens than sinks, and none
    seen, window, sinks = rng.randrange(12, 20), rng.randrange(2, 5), rng.randrange(1, 3)
    slack = rng.randrange(1, 4)
    runs += [(seen, window, sinks, slack, slack, -slack, slack)]
    runs += [(seen, window, sinks, slack, slack, 1)]
    return [_rewind_case(seed, *run) for seed, run in enumerate(runs)]


def _rewind_case(seed: int, seen: int, window: int, sinks: int, slack: int, *script: int) -> Case:
    line = f'rng = draw({seed}, "chunk4"); ring = {filled(seen, window, 1, sinks, slack)}'
    for n in script:
        placed = f"place(ring, *numbers(rng, 2, 1, {-n}, 2))"
        line += f"; {placed}" if n < 0 else f"; rewind(ring, {n})"
    return watched_case(line, "rewind", _watched, lambda space: _fields(space["ring"], "the end"))


def _watched(number: int, function: Any, ring: RingArrays, n: int) -> dict[str, Any]:
    which = f"{number}. rewind({n})"
    said = _outcome(function, ring, n)
    return {which: said, **_fields(ring, which)}


def _outcome(function: Any, ring: RingArrays, n: int) -> str:
    try:
        call(function, ring, n, may_change=(0,))
    except SLIPS:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and any(words in str(error) for words in NUMPYS):
            raise  # a slip, not a refusal
        name = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        return f"raises {name}"
    return "takes them back"


def _fields(ring: RingArrays, when: str) -> dict[str, Any]:
    names = ("seen", "positions", "keys", "values")
    before = "at" if when == "the end" else "after"
    return {f"{name} {before} {when}": plain(getattr(ring, name)) for name in names}


REWIND = Exercise(
    id="chunk4-rewind",
    names=("rewind",),
    cases=_rewind_cases,
    reference=answers(rewind),
    mutants=(
        Mutant(
            "never-refuses",
            "nothing is ever refused: the shorter text is left without the oldest keys of its "
            "window, and no error says so",
            answers(rewind=wrong.rewinding(lambda ring, length: False)),
        ),
        Mutant(
            "slack-alone",
            "n is compared with the slack and nothing else: a second rewind in a row finds the "
            "slack used up, and a young ring could take back more. Look at what is stored",
            answers(rewind=wrong.rewinding(wrong.slack_alone)),
        ),
        Mutant(
            "slack-once-wrapped",
            "n is compared with the slack once the ring has wrapped: a second rewind in a row "
            "finds the slack used up. Look at what is stored",
            answers(rewind=wrong.rewinding(wrong.slack_once_wrapped)),
        ),
        Mutant(
            "never-once-full",
            "a full ring refuses every rewind, though what the shorter text needs is stored",
            answers(rewind=wrong.rewinding(wrong.once_full)),
        ),
        Mutant(
            "never-once-wrapped",
            "a ring that has wrapped refuses every rewind, though with slack what the shorter "
            "text needs is stored",
            answers(rewind=wrong.rewinding(wrong.once_wrapped)),
        ),
        Mutant(
            "one-less",
            "W - 1 positions are thought enough: the shorter text needs its last W, from m - W on",
            answers(rewind=wrong.rewinding(wrong.one_less)),
        ),
        Mutant(
            "one-more",
            "one position too many is asked for: the shorter text needs those from m - W on",
            answers(rewind=wrong.rewinding(wrong.one_more)),
        ),
        Mutant(
            "sinks-counted",
            "stored positions are counted, sinks with them: a sink cannot stand in for a position "
            "of the window",
            answers(rewind=wrong.rewinding(wrong.sinks_counted)),
        ),
        Mutant(
            "oldest-of-all",
            "the oldest position stored is a sink, so it says nothing about the window: leave "
            "sinks out when you look for the oldest",
            answers(rewind=wrong.rewinding(wrong.oldest_of_all)),
        ),
        *(
            Mutant(name, sentence, answers(rewind=wrong.rewinding(refuse)))
            for name, sentence, refuse in OLDEST
        ),
        Mutant(
            "every-sink",
            "every sink is asked for: a text shorter than that needs only the sinks below m",
            answers(rewind=wrong.rewinding(wrong.every_sink)),
        ),
        *(
            Mutant(
                f"raises-{error.__name__}",
                "another error is raised: the refusal must be a ValueError, so that a caller can "
                "catch it and nothing else",
                answers(rewind=wrong.raising(error)),
            )
            for error in (RuntimeError, Exception, AssertionError)
        ),
        Mutant(
            "last-of-none",
            "the newest n are taken as [-n:]: when n is 0 that is all of them",
            answers(rewind=wrong.rewinding(gone=wrong.last_of_none)),
        ),
        Mutant(
            "changes-first",
            "the ring is changed before it refuses: after ValueError it must be as it was",
            answers(rewind=wrong.changes_first),
        ),
        Mutant(
            "seen-first",
            "`seen` is lowered before the ring refuses: after ValueError it must be as it was",
            answers(rewind=wrong.seen_first),
        ),
        Mutant(
            "ghosts",
            "the slots keep the positions that were taken back: such ghosts pass the mask of a "
            "later query",
            answers(rewind=wrong.rewinding(empty=wrong.storage_only)),
        ),
        Mutant(
            "nothing-emptied",
            "only `seen` is lowered: positions, keys and values of the tokens taken back stay",
            answers(rewind=wrong.rewinding(empty=lambda ring, slots: None)),
        ),
        Mutant(
            "empty-is-zero",
            "position 0 is written into the emptied slots: empty is -1",
            answers(rewind=wrong.rewinding(empty=wrong.empty_is_zero)),
        ),
        Mutant(
            "storage-kept",
            "keys and values of the tokens taken back stay in memory: were one of them NaN, a "
            "weight of 0 would not keep it out, since 0 times NaN is NaN",
            answers(rewind=wrong.rewinding(empty=wrong.positions_only)),
        ),
        Mutant(
            "seen-kept",
            "`seen` is not lowered: the next token is written at a position that is too high",
            answers(rewind=wrong.seen_kept),
        ),
        Mutant(
            "one-stays",
            "position m stays: the shorter text has the positions 0 to m - 1",
            answers(rewind=wrong.rewinding(gone=lambda ring, length: ring.positions > length)),
        ),
        Mutant(
            "one-too-many",
            "position m - 1 goes, too: it is the newest of the shorter text",
            answers(rewind=wrong.rewinding(gone=lambda ring, length: ring.positions >= length - 1)),
        ),
        Mutant(
            "rolled",
            "the slots are found as p % slots: with sinks that is another slot. Find them by "
            "their positions",
            answers(rewind=wrong.rewinding(gone=wrong.rolled)),
        ),
        Mutant(
            "position-as-slot",
            "positions are taken for slots: slot m is not where position m lies, once the ring "
            "has wrapped",
            answers(rewind=wrong.rewinding(gone=wrong.position_as_slot)),
        ),
        Mutant(
            "from-slot",
            "every slot behind the one of position m is emptied: in a ring, slot order is not "
            "order of time",
            answers(rewind=wrong.rewinding(gone=wrong.from_slot)),
        ),
        Mutant(
            "says-false",
            "nothing is raised where ValueError should be: the caller goes on, and the ring still "
            "holds the drafts",
            answers(rewind=wrong.says_false),
        ),
    ),
)
