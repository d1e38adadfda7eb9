"""Judges an answer: right, or which case differs first and which known mistake behaves so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from .compare import kind, same, short
from .guard import EndlessLoop, InputChanged, Unfinished, guarded, place_of
from .model import Answer, Case, Exercise, Mutant

__all__ = ["Verdict", "judge"]

SEEDS = (1, 2)
Guard = Callable[[Callable[[], Any]], Any]
NUMBERS = {"a number", "a whole number"}


def _documented_stub() -> None:
    """Be like a stub that has nothing but its docstring."""


EMPTY_BODIES = {(lambda: None).__code__.co_code, _documented_stub.__code__.co_code}


@dataclass(frozen=True)
class Raised:
    """An observation that is an error; two of them are alike when their types are."""

    error: BaseException

    def like(self, other: Any) -> bool:
        """Say whether another observation is an error of the same type."""
        return isinstance(other, Raised) and type(self.error) is type(other.error)


@dataclass(frozen=True)
class Verdict:
    """What a check found: at most six ``lines``, and the mutant that the ``mistake`` is."""

    right: bool
    lines: tuple[str, ...]
    mistake: str = ""

    def __str__(self) -> str:
        return "\n".join(self.lines)


def judge(exercise: Exercise, names: Mapping[str, Any], seeds: tuple[int, ...] = SEEDS) -> Verdict:
    """Run every case on the names a learner defined and compare with the reference."""
    wanting = _missing(exercise, names)
    if wanting:
        return _not_yet(exercise, wanting)
    answer = Answer(**{name: names[name] for name in exercise.names})
    cases = [case for seed in seeds for case in exercise.cases(Random(f"{exercise.id}:{seed}"))]
    expected = [_observe(case, exercise.answer()) for case in cases]
    yours: list[Any] = []
    for case in cases:
        yours.append(_observe(case, answer, guard=guarded))
        if isinstance(yours[-1], Raised) and isinstance(yours[-1].error, EndlessLoop):
            break  # the other cases would only wait again
    wrong = [i for i, seen in enumerate(yours) if not _alike(seen, expected[i])]
    if not wrong:
        return Verdict(True, (f"{exercise.id}: right, on all {len(cases)} cases.",))
    first = wrong[0]
    mistake = _mistake(exercise, cases, yours)
    head = f"{exercise.id}: not yet. Case {first + 1} of {len(cases)}: {cases[first].given}"
    lines = [head, *_difference(yours[first], expected[first])]
    if mistake:
        also = "" if mistake[1] else " Something else is wrong, too."
        lines.append(f"  This is what happens when {mistake[0].sentence}.{also}")
    lines.append(f'  Stuck? hint("{exercise.id}", 1)')
    return Verdict(False, tuple(lines), mistake[0].name if mistake else "")


def _missing(exercise: Exercise, names: Mapping[str, Any]) -> str:
    for name in exercise.names:
        model = exercise.reference[name]
        if name not in names:
            return f"`{name}` is not defined. Run the answer cell, and keep this name in it."
        given = names[name]
        if given is ... or _is_stub(given):
            return f"`{name}` is not written yet: fill in the answer cell and run it."
        if callable(model) and not callable(given):
            return f"`{name}` is {kind(given)}; it should be a function."
    return ""


def _is_stub(value: Any) -> bool:
    code = getattr(value, "__code__", None)
    if code is None or code.co_names or code.co_code not in EMPTY_BODIES:
        return False
    return all(const in (None, value.__doc__) for const in code.co_consts)


def _not_yet(exercise: Exercise, why: str) -> Verdict:
    return Verdict(False, (f"{exercise.id}: {why}", f'  Stuck? hint("{exercise.id}", 1)'))


def _observe(case: Case, answer: Answer, guard: Guard = lambda work: work()) -> Any:
    try:
        return guard(lambda: case.run(answer))
    except (Exception, EndlessLoop, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        return Raised(error)


def _alike(yours: Any, expected: Any) -> bool:
    if isinstance(yours, Raised):
        return yours.like(expected)
    return same(yours, expected)


def _mistake(exercise: Exercise, cases: list[Case], yours: list[Any]) -> tuple[Mutant, bool] | None:
    """Find the known mistake behind what was seen, and whether it explains all of it.

    It must give what the learner gave in every case where it differs from the right answer, the
    first wrong case among them. It explains all when it gives the same in every other case too.
    """
    right = [_observe(case, exercise.answer()) for case in cases[: len(yours)]]
    first = next(i for i, seen in enumerate(yours) if not _alike(seen, right[i]))
    partial = None
    for mutant in exercise.mutants:
        answer = exercise.answer(mutant.answer)
        seen = [_observe(case, answer) for case in cases[: len(yours)]]
        shared = [_alike(mine, its) for mine, its in zip(yours, seen, strict=True)]
        if all(shared):
            return mutant, True
        differs = [not _alike(its, want) for its, want in zip(seen, right, strict=True)]
        agrees = all(same for same, wrong in zip(shared, differs, strict=True) if wrong)
        if partial is None and differs[first] and agrees:
            partial = mutant, False
    return partial


def _difference(yours: Any, expected: Any) -> list[str]:
    if isinstance(yours, Raised):
        return [f"  {_what_happened(yours.error)}", *_expected_line(expected)]
    for label, want in expected.items():
        got = yours.get(label)
        if not same(got, want):
            seen = short(got)
            if got is None and want is not None:
                seen = "None (is a `return` missing?)"
            elif kind(got) != kind(want) and not ({kind(got), kind(want)} <= NUMBERS):
                seen = f"{short(got, 50)}, which is {kind(got)}, not {kind(want)}"
            return [f"  your {label}: {seen}", f"  expected: {short(want)}"]
    return []


def _expected_line(expected: Any) -> list[str]:
    return [] if isinstance(expected, Raised) else [f"  expected: {short(expected)}"]


def _what_happened(error: BaseException) -> str:
    if isinstance(error, EndlessLoop):
        still = " It catches every error and runs on: restart the kernel." if error.args else ""
        return f"your code did not stop: a loop in it never ends.{still}"
    if isinstance(error, InputChanged):
        return f"your code changed what it was given: {short_text(str(error))}"
    if isinstance(error, NotImplementedError | Unfinished):
        return "this part is not written yet."
    where = place_of(error)
    at = f", at `{short_text(where, 60)}`" if where else ""
    return short_text(f"your code raised {type(error).__name__}: {error}", 120) + at


def short_text(text: str, width: int = 120) -> str:
    """Put a text on one line, cut at ``width`` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 2] + " …"
