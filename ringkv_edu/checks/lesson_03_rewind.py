"""Lesson 03: taking tokens back, or changing nothing."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ..given_chunks import place
from ..given_numpy import RingArrays, filled_arrays, numbers
from . import lesson_03_rewind_mistakes as wrong
from .compare import plain
from .guard import call
from .lesson_03_rewind_mistakes import rewind
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["REWIND"]

Script = list[tuple[str, int]]
NUMPYS = ("truth value", "broadcast", "shape")  # in the texts of NumPy's own ValueErrors


def _rewind_cases(rng: Random) -> list[Case]:
    """Draw (seen, window, sinks, slack, what happens then)."""
    runs: list[tuple[int, int, int, int, Script]] = [
        (10, 4, 0, 0, [("back", 2), ("append", 1)]),  # the case file's rewind
        (10, 4, 0, 2, [("back", 1), ("append", 1)]),
        (10, 4, 0, 2, [("back", 2), ("back", 1), ("append", 1)]),
        (10, 4, 0, 4, [("back", 5), ("back", 4)]),
        (3, 4, 0, 0, [("back", 1), ("append", 1)]),
        (4, 4, 0, 0, [("back", 3), ("append", 4)]),
        (6, 4, 0, 2, [("back", 3), ("append", 1)]),
        (7, 4, 0, 2, [("back", 3), ("back", 2), ("append", 3)]),
        (9, 3, 0, 1, [("back", 0), ("back", 9), ("append", 2)]),
        (5, 1, 0, 1, [("back", 1), ("back", 1), ("append", 2)]),
        (11, 3, 2, 2, [("back", 2), ("append", 1), ("back", 3)]),
        (12, 4, 1, 0, [("back", 1), ("append", 1)]),
        (12, 2, 3, 1, [("back", 1), ("back", 1), ("append", 4), ("back", 1)]),
        (4, 3, 2, 2, [("back", 3), ("append", 2)]),
    ]
    window, sinks, slack = rng.randrange(2, 5), rng.randrange(1, 3), rng.randrange(1, 4)
    script = [("back", slack), ("back", 1), ("append", slack), ("back", slack)]
    runs.append((rng.randrange(12, 20), window, sinks, slack, script))
    return [_rewind_case(rng.random(), *run) for run in runs]


def _rewind_case(
    seed: float, seen: int, window: int, sinks: int, slack: int, script: Script
) -> Case:
    def run(answer: Answer) -> dict[str, Any]:
        rng = Random(seed)
        ring = filled_arrays(seen, rng, window, 1, 2, sinks, slack)
        shown: dict[str, Any] = {}
        for step, (what, n) in enumerate(script, 1):
            if what == "append":
                place(ring, numbers(rng, 1, n, 2), numbers(rng, 1, n, 2))
                continue
            before = f"{step}. rewind({n})"
            shown[before] = _outcome(answer.rewind, ring, n)
            shown |= {f"{name} after {before}": what for name, what in _fields(ring).items()}
        return shown | {f"{name} at the end": what for name, what in _fields(ring).items()}

    told = ", ".join(f"rewind({n})" if what == "back" else f"append {n}" for what, n in script)
    sizes = f"window {window}, sinks {sinks}, slack {slack}, {seen} tokens"
    return Case(f"{sizes}; then {told}", run)


def _outcome(function: Callable[[RingArrays, int], Any], ring: RingArrays, n: int) -> str:
    try:
        call(function, ring, n, may_change=(0,))
    except ValueError as error:
        if any(words in str(error) for words in NUMPYS):
            raise  # a slip, not a refusal
        return "raises ValueError"
    return "takes them back"


def _fields(ring: RingArrays) -> dict[str, Any]:
    names = ("seen", "positions", "keys", "values")
    return {name: plain(getattr(ring, name)) for name in names}


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
            "below-zero",
            "W positions are asked for, below 0 if need be: a text shorter than the window needs "
            "those from 0 on",
            answers(rewind=wrong.rewinding(wrong.below_zero)),
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
