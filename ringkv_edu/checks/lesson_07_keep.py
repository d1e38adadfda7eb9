"""Lesson 07: what to keep of a chat: the system prompt, and whole sentences from the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .lesson_07_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["KEEP"]

Tokens = Sequence[str]
ENDS = (".", "!", "?")


def keep(tokens: Tokens, budget: int, system: int) -> list[int]:
    """Give the positions that stay, in order."""
    return _keep(tokens, budget, system)


def _starts(tokens: Tokens, system: int) -> list[int]:
    """Give where sentences begin behind the system prompt."""
    return [p for p in range(system + 1, len(tokens)) if tokens[p - 1].endswith(ENDS)]


def _choose(fitting: list[int], cut: int) -> int:
    return min(fitting, default=cut)


def _keep(
    tokens: Tokens,
    budget: int,
    system: int,
    starts: Callable[[Tokens, int], list[int]] = _starts,
    room: Callable[[int, int], int] = lambda budget, system: budget - system,
    choose: Callable[[list[int], int], int] = _choose,
    fits: Callable[[int, int], bool] = lambda length, room: length <= room,
) -> list[int]:
    n = len(tokens)
    if n <= budget:
        return list(range(n))
    cut = n - room(budget, system)
    fitting = [p for p in starts(tokens, system) if fits(n - p, room(budget, system))]
    return [*range(system), *range(choose(fitting, cut), n)]


def _with(**parts: Any) -> dict[str, Any]:
    return answers(keep=lambda tokens, budget, system: _keep(tokens, budget, system, **parts))


def _ends_in(ends: Any) -> Callable[[Tokens, int], list[int]]:
    def starts(tokens: Tokens, system: int) -> list[int]:
        return [p for p in range(system + 1, len(tokens)) if tokens[p - 1].endswith(ends)]

    return starts


def _is_end(tokens: Tokens, system: int) -> list[int]:
    return [p for p in range(system + 1, len(tokens)) if tokens[p - 1] in ENDS]


def _at_the_mark(tokens: Tokens, system: int) -> list[int]:
    return [p for p in range(system, len(tokens)) if tokens[p].endswith(ENDS)]


def _sentence_before(tokens: Tokens, budget: int, system: int) -> list[int]:
    n = len(tokens)
    if n <= budget:
        return list(range(n))
    cut = n - (budget - system)
    before = [p for p in [system, *_starts(tokens, system)] if p <= cut]
    return [*range(system), *range(max(before), n)]


def _oldest(tokens: Tokens, budget: int, system: int) -> list[int]:
    n = len(tokens)
    if n <= budget:
        return list(range(n))
    ends = [p for p in _starts(tokens, system) if p <= budget]
    return list(range(max(ends, default=budget)))


def _system_dropped(tokens: Tokens, budget: int, system: int) -> list[int]:
    return [p for p in keep(tokens, budget, system) if p >= system or len(tokens) <= budget]


def _no_system(tokens: Tokens, budget: int, system: int) -> list[int]:
    return keep(tokens, budget, 0)


def _always_cut(tokens: Tokens, budget: int, system: int) -> list[int]:
    if len(tokens) > budget:
        return keep(tokens, budget, system)
    starts = _starts(tokens, system)
    return [*range(system), *range(min(starts, default=len(tokens)), len(tokens))]


def _cut_for_free(tokens: Tokens, budget: int, system: int) -> list[int]:
    n = len(tokens)
    if n <= budget:
        return list(range(n))
    starts = [p for p in range(n - budget, n) if tokens[p - 1].endswith(ENDS)]
    return [*range(system), *range(starts[0] if starts else n - budget, n)]


def _words(tokens: Tokens, budget: int, system: int) -> list[str]:
    return [tokens[p] for p in keep(tokens, budget, system)]


def _left_behind(tokens: Tokens, budget: int, system: int) -> list[int]:
    kept = set(keep(tokens, budget, system))
    return [p for p in range(len(tokens)) if p not in kept]


SENTENCES = (
    ["It", " rains", "."], ["Take", " a", " coat", "!"], ["Why", "?"], ["So", " it", " is", "."],
    ["The", " ring", " is", " full", "."], ["Is", " it", "?"], ["Go", " on", "."], ["No", "!"],
    ["The", " price", " is", " 2.5", " today."],
)  # fmt: skip


def drawn_chat(rng: Random, sentences: int) -> list[str]:
    """Draw a chat: a short system prompt, then some sentences."""
    drawn = [rng.choice(SENTENCES) for _ in range(sentences)]
    return ["Be", " brief", ".", *(token for sentence in drawn for token in sentence)]


def _keep_cases(rng: Random) -> list[Case]:
    chat = ["Be", " brief", ".", "It", " rains", ".", "Take", " a", " coat", "!", "Why", "?"]
    chat += ["So", " it", " is"]
    asked = [(chat, 9, 3), (chat, 8, 3), (chat, 12, 3), (chat, 13, 3), (chat, 15, 3), (chat, 40, 3)]
    asked += [(chat, 5, 3), (chat, 6, 0), (chat, 7, 1), (chat, 12, 5)]
    price = ["Help", ":", "It", " costs", " 2.5", " now.", "Is", " it", " much", "?", "No", "."]
    asked += [(price, 8, 2), (price, 9, 2), (price, 10, 2), (["a", " b", " c", " d", " e"], 3, 1)]
    drawn = drawn_chat(rng, 5)
    asked.append((drawn, rng.randrange(7, len(drawn)), 3))
    return [call_case(f"keep({tokens}, {budget}, {s})", "keep") for tokens, budget, s in asked]


KEEP = Exercise(
    id="mo7-keep",
    names=("keep",),
    cases=_keep_cases,
    reference=answers(keep),
    mutants=(
        Mutant(
            "mid-sentence",
            "the cut falls where the budget ends, in the middle of a sentence: begin at the next "
            "sentence start",
            _with(starts=lambda tokens, system: []),
        ),
        Mutant(
            "sentence-before",
            "the cut goes back to the sentence start before it: that is over the budget",
            answers(keep=_sentence_before),
        ),
        Mutant(
            "system-dropped",
            "the system prompt is lost: its tokens stay",
            answers(keep=_system_dropped),
        ),
        Mutant(
            "no-system",
            "the system prompt is treated like the rest of the text: its tokens stay",
            answers(keep=_no_system),
        ),
        Mutant(
            "system-for-free",
            "the system prompt is not counted: the budget is for all that stays",
            _with(room=lambda budget, system: budget),
        ),
        Mutant(
            "system-for-free-anywhere",
            "the system prompt is not counted: the budget is for all that stays",
            answers(keep=_cut_for_free),
        ),
        Mutant(
            "oldest-kept",
            "the beginning is kept and the newest tokens are lost",
            answers(keep=_oldest),
        ),
        Mutant(
            "last-sentence-alone",
            "the last sentence start that fits is taken: the first one keeps more",
            _with(choose=lambda fitting, cut: max(fitting, default=cut)),
        ),
        Mutant(
            "at-the-mark",
            "the mark that ends the sentence before is kept, too: a sentence begins behind it",
            _with(starts=_at_the_mark),
        ),
        Mutant(
            "full-stop-alone",
            "a sentence is thought to end with a full stop alone: ! and ? end one, too",
            _with(starts=_ends_in(".")),
        ),
        Mutant(
            "mark-as-token",
            "an end is seen only where the mark is a token of its own: a token may end in one, as "
            "in ' now.'",
            _with(starts=_is_end),
        ),
        Mutant(
            "mark-inside",
            "a token with a mark inside it is taken for an end: ' 2.5' ends nothing",
            _with(
                starts=lambda tokens, system: [
                    p
                    for p in range(system + 1, len(tokens))
                    if any(mark in tokens[p - 1] for mark in ENDS)
                ]
            ),
        ),
        Mutant(
            "exact-fit-lost",
            "a sentence start that fits exactly is passed over: the budget may be used up",
            _with(fits=lambda length, room: length < room),
        ),
        Mutant(
            "nothing-fits",
            "where no sentence start fits, nothing but the system prompt is kept: then the cut "
            "falls mid-sentence, at the budget",
            answers(
                keep=lambda tokens, budget, system: _keep(
                    tokens,
                    budget,
                    system,
                    choose=lambda fitting, cut: min(fitting, default=len(tokens)),
                )
            ),
        ),
        Mutant(
            "always-cut",
            "a chat that fits is cut: all of it stays",
            answers(keep=_always_cut),
        ),
        Mutant("words", "the tokens are given: give their positions", answers(keep=_words)),
        Mutant("left-behind", "the positions that go are given", answers(keep=_left_behind)),
    ),
)
