"""Lesson 11: a fact of which something newer was said is worse than none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from ..duel.memory import Entry
from .code_case import code_case
from .lesson_11_common import GIVEN
from .model import Case, Exercise, Mutant, answers

__all__ = ["STALE", "drawn_texts"]

Test = Callable[[Entry, Entry], bool]


def stale(entries: Sequence[Entry]) -> list[int]:
    """Give the positions of facts that a newer fact of the same name replaces, in order."""
    return _where(entries, _same_name)


def _name(entry: Entry) -> str:
    return entry.text.partition("=")[0]


def _is_fact(entry: Entry) -> bool:
    return "=" in entry.text


def _same_name(older: Entry, newer: Entry) -> bool:
    return _is_fact(older) and _is_fact(newer) and _name(older) == _name(newer)


def _where(entries: Sequence[Entry], replaces: Test) -> list[int]:
    return [
        older.position
        for at, older in enumerate(entries)
        if any(replaces(older, newer) for newer in entries[at + 1 :])
    ]


def _with(replaces: Test) -> dict[str, Any]:
    return answers(stale=lambda entries: _where(entries, replaces))


def _newest_instead(entries: Sequence[Entry]) -> list[int]:
    """Give those that replace."""
    return [
        newer.position
        for at, newer in enumerate(entries)
        if any(_same_name(older, newer) for older in entries[:at])
    ]


def _only_last_but_one(entries: Sequence[Entry]) -> list[int]:
    """Find, for each name, the one before the newest."""
    before: dict[str, list[int]] = {}
    for entry in entries:
        if _is_fact(entry):
            before.setdefault(_name(entry), []).append(entry.position)
    return sorted(found[-2] for found in before.values() if len(found) > 1)


def _places(entries: Sequence[Entry]) -> list[int]:
    wanted = stale(entries)
    return [place for place, entry in enumerate(entries) if entry.position in wanted]


def _by_first_letters(older: Entry, newer: Entry) -> bool:
    return _is_fact(older) and _is_fact(newer) and older.text[:2] == newer.text[:2]


def _asked_too(older: Entry, newer: Entry) -> bool:
    """Take a question for a newer word about the name."""
    return _is_fact(older) and re.split("[=?]", newer.text)[0] == _name(older)


def _other_value(older: Entry, newer: Entry) -> bool:
    return _same_name(older, newer) and older.text != newer.text


def _same_text(older: Entry, newer: Entry) -> bool:
    return _is_fact(older) and older.text == newer.text


def _any_text(older: Entry, newer: Entry) -> bool:
    """Split at "=" whether there is one or not: small talk said twice counts, too."""
    return _name(older) == _name(newer)


def drawn_texts(rng: Random, n: int) -> list[str]:
    """Draw texts of few names, one of them the beginning of another, with questions and talk."""
    names = ["k1", "k12", "k2", "k3"]
    texts = ["k1=3", "k12=3", "and", "k1?", "k2=0", "k2=0", "and", "k3=1", "k3=2", "k3=5"]
    for _ in range(n):
        name, kind = rng.choice(names), rng.randrange(5)
        texts.append(
            "and" if kind == 0 else f"{name}?" if kind == 1 else f"{name}={rng.randrange(8)}"
        )
    return texts


def _cases(rng: Random) -> list[Case]:
    texts = [
        ["k1=3", "and", "k2=5"],
        ["k1=3", "and", "k1=5"],
        ["k2=3", "and", "and", "k2?"],
        ["k1=3", "k12=3", "k1?"],
        ["k1=2", "k1=2", "k3=2"],
        ["k4=1", "so", "k4=2", "k4=3", "k5=3"],
        [],
        drawn_texts(rng, 6)[rng.randrange(3) :],
    ]
    return [
        code_case(
            f'rng = draw({seed}, "du3"); memory = named_memory(rng, {some}, 9999); '
            "out = stale(memory.entries)",
            "stale",
            lambda space: {"result": space["out"]},
            (),
            GIVEN,
        )
        for seed, some in enumerate(texts)
    ]


STALE = Exercise(
    id="du3-stale",
    names=("stale",),
    cases=_cases,
    reference=answers(stale),
    mutants=(
        Mutant(
            "the-newer",
            "the newer fact is given: it holds, and the older ones are stale",
            answers(stale=_newest_instead),
        ),
        Mutant(
            "last-but-one",
            "of each name only one older fact is given: said three times, two are stale",
            answers(stale=_only_last_but_one),
        ),
        Mutant(
            "places",
            "places in the list are given: positions are asked for, and some tokens are gone",
            answers(stale=_places),
        ),
        Mutant(
            "two-letters",
            "names are compared by their first letters: k1 is not k12",
            _with(_by_first_letters),
        ),
        Mutant(
            "questions",
            "a question counts as something newer: it says nothing about its name",
            _with(_asked_too),
        ),
        Mutant(
            "other-value",
            "what was said twice is kept twice: the older copy is stale, the newer says the same",
            _with(_other_value),
        ),
        Mutant(
            "same-text",
            "only the very same text counts: the value may be another, it is the name that counts",
            _with(_same_text),
        ),
        Mutant(
            "small-talk",
            "words of small talk that come twice are given: only facts, with a =, can be stale",
            _with(_any_text),
        ),
    ),
)
