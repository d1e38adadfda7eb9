"""Judges an answer: right, or which case differs first and which known mistake behaves so."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import compress
from operator import and_
from random import Random
from types import FunctionType
from typing import Any

from .compare import kind, plain, same
from .guard import EndlessLoop, guarded
from .message import Raised, difference
from .model import Answer, Case, Exercise, Mutant

__all__ = ["SEEDS", "Verdict", "judge", "missing"]

SEEDS = (1, 2)
WIDEST = 280
Guard = Callable[[Callable[[], Any]], Any]
KNOWN: dict[tuple[int, tuple[int, ...], str], tuple[Exercise, list[Any]]] = {}


def _documented_stub() -> None:
    """Be like a stub that has nothing but its docstring."""


EMPTY_BODIES = {(lambda: None).__code__.co_code, _documented_stub.__code__.co_code}


@dataclass(frozen=True)
class Verdict:
    """What a check found: at most six ``lines``, and the mutant that the ``mistake`` is."""

    right: bool
    lines: tuple[str, ...]
    mistake: str = ""

    def __str__(self) -> str:
        cut = (line if len(line) <= WIDEST else f"{line[:WIDEST]} …" for line in self.lines)
        return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in cut)


class _Silent(io.TextIOBase):
    """Takes what an answer prints during a check, and counts its lines."""

    lines = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return len(text)


def judge(exercise: Exercise, names: Mapping[str, Any], seeds: tuple[int, ...] = SEEDS) -> Verdict:
    """Run every case on the names a learner defined and compare with the reference."""
    wanting = missing(exercise, names)
    if wanting:
        return Verdict(False, (f"{exercise.id}: {wanting}", _stuck(exercise)))
    cases = _cases(exercise, seeds)
    printed = _Silent()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 0 / 0 shows in the result; a red line above is noise
        yours = _all(cases, Answer(**{name: names[name] for name in exercise.names}), guarded)
    expected = _known(exercise, seeds, cases)[: len(yours)]
    wrong = [i for i, seen in enumerate(yours) if not _alike(seen, expected[i])]
    if not wrong:
        asked = f", on all {len(cases)} cases" if len(cases) > 1 else ""
        said = f"{exercise.id}: right{asked}."
        noise = f"  It printed {printed.lines} lines of its own: take the print calls out."
        return Verdict(True, (said, noise) if printed.lines else (said,))
    first = wrong[0]
    lines = [f"{exercise.id}: not yet. Case {first + 1} of {len(cases)}: {cases[first].given}"]
    lines += difference(yours[first], expected[first])
    mistake, exact = _mistake(exercise, seeds, cases, yours, expected)
    if mistake:
        which, also = ("This", "") if exact else ("This case", " Other cases do not fit that.")
        lines.append(f"  {which} is what happens when {mistake.sentence}.{also}")
    return Verdict(False, (*lines, _stuck(exercise)), mistake.name if mistake else "")


def _stuck(exercise: Exercise) -> str:
    return f'  Stuck? hint("{exercise.id}", 1)'


def missing(exercise: Exercise, names: Mapping[str, Any]) -> str:
    """Say which name of an answer is not defined or not written yet, or give an empty text."""
    for name in exercise.names:
        if name not in names:
            return f"`{name}` is not defined. Run the answer cell, and keep this name in it."
        given = names[name]
        if given is ... or _is_stub(given):
            return f"`{name}` is not written yet: fill in the answer cell and run it."
        if callable(exercise.reference[name]) and not callable(given):
            what = guarded(lambda given=given: kind(plain(given)))  # type: ignore[misc]
            return f"`{name}` is {what}; it should be a function."
    return ""


def _is_stub(value: Any) -> bool:
    if not isinstance(value, FunctionType):
        return False
    code = value.__code__
    if code.co_names or code.co_code not in EMPTY_BODIES:
        return False
    return all(const in (None, value.__doc__) for const in code.co_consts)


def _cases(exercise: Exercise, seeds: tuple[int, ...]) -> list[Case]:
    """Draw the cases of each seed; one that says the same as an earlier one is not asked again."""
    drawn = [case for seed in seeds for case in exercise.cases(Random(f"{exercise.id}:{seed}"))]
    first: dict[str, Case] = {}
    for case in drawn:
        first.setdefault(case.given, case)
    return list(first.values())


def _all(cases: list[Case], answer: Answer, guard: Guard = lambda work: work()) -> list[Any]:
    """Run cases; after an endless one the others would only wait again, so it is the last."""
    seen: list[Any] = []
    for case in cases:
        try:
            seen.append(guard(lambda case=case: _observed(case, answer)))  # type: ignore[misc]
        except EndlessLoop as error:
            return [*seen, Raised(error)]
    return seen


def _observed(case: Case, answer: Answer) -> Any:
    """Give what one case shows, as plain data. All code of the learner's runs in here."""
    try:
        return plain(case.run(answer))
    except EndlessLoop:
        raise
    except BaseException as error:  # an answer may raise KeyboardInterrupt or SystemExit, too
        return Raised(error)


def _alike(yours: Any, expected: Any) -> bool:
    return yours.like(expected) if isinstance(yours, Raised) else same(yours, expected)


def _known(
    exercise: Exercise, seeds: tuple[int, ...], cases: list[Case], mutant: Mutant | None = None
) -> list[Any]:
    """Give what the reference or a known mistake shows; the same each time, so run once."""
    key = id(exercise), seeds, mutant.name if mutant else ""
    if key not in KNOWN:
        answer = exercise.answer(mutant.answer if mutant else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a mistake's 0 / 0 is the mistake
            shown = _all(cases, answer)
        KNOWN[key] = exercise, shown  # with the exercise, so that its id stays its own
    return KNOWN[key][1]


def _mistake(
    exercise: Exercise,
    seeds: tuple[int, ...],
    cases: list[Case],
    yours: list[Any],
    right: list[Any],
) -> tuple[Mutant | None, bool]:
    """Find the known mistake behind what was seen, and say whether it explains all of it.

    It explains all when it gives what the learner gave in every case. Otherwise it must do so in
    the first wrong case, and either wherever it is wrong itself, or in half of the wrong cases
    without being wrong where the learner is right. The one that explains most is taken.
    """
    wrong = [not _alike(seen, want) for seen, want in zip(yours, right, strict=True)]
    first, partial, most = wrong.index(True), None, 0
    for mutant in exercise.mutants:
        its = _known(exercise, seeds, cases, mutant)[: len(yours)]
        shared = [_alike(mine, seen) for mine, seen in zip(yours, its, strict=True)]
        if all(shared):
            return mutant, True
        errs = [not _alike(seen, want) for seen, want in zip(its, right, strict=True)]
        explained = sum(map(and_, shared, wrong))
        only_so = all(compress(shared, errs))
        mostly_so = all(compress(wrong, errs)) and 2 * explained >= sum(wrong)
        if errs[first] and shared[first] and (only_so or mostly_so) and explained > most:
            partial, most = mutant, explained
    return partial, False
