"""Lesson 10: cases that try a learner's test on caches, and mistakes that any test may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import given_cases, given_versions
from .code_case import CASE
from .model import Answer, Case, Mutant

__all__ = [
    "ALL_WINDOWS",
    "NEVER",
    "always",
    "line_case",
    "mistakes_in",
    "near",
    "try_cases",
    "usual_mutants",
]

GIVEN = {
    "math": math,
    "versions": given_versions,
    **{name: getattr(given_cases, name) for name in given_cases.__all__},
}
ALL_WINDOWS = range(1, 7)
Test = Callable[[Any], object]

NEVER = (
    "nothing is ever refused: a test speaks by raising, most simply by `assert`, and what it "
    "returns nobody looks at"
)
ALWAYS = "every cache is refused: a right one must be accepted"
TOY_ALONE = "the class that is shown is recognised, and no other: the same bug may be anywhere"
ONE_WINDOW = "one window alone is tried: a bug may show in another one, so try 1 to 6"


def near(position: int, window: int) -> set[int]:
    """Give the positions that a query at ``position`` sees."""
    return set(range(max(0, position - window + 1), position + 1))


def always(cache_class: Any) -> None:
    """Refuse every class."""
    raise AssertionError


def try_cases(test: str, toy: str, right: Sequence[str], wrong: Sequence[str]) -> list[Case]:
    """Make a case of each class that a test must refuse or accept, given as expressions."""
    cases = [_try_case(test, toy, "refused")]
    cases += [_try_case(test, f"versions.{version}", "accepted") for version in right]
    return cases + [_try_case(test, f"versions.{version}", "refused") for version in wrong]


def _try_case(test: str, version: str, truth: str) -> Case:
    code = compile(version, CASE, "eval")

    def run(answer: Answer) -> Mapping[str, Any]:
        cache_class = eval(code, dict(GIVEN))
        try:
            getattr(answer, test)(cache_class)
        except AssertionError:
            return {"test": "refused"}
        except Exception as error:
            by = f", by {type(error).__name__}" if truth == "accepted" else ""
            return {"test": f"refused{by}"}
        return {"test": "accepted"}

    return Case(f"{test}({version})", run)


def line_case(line: str, name: str, look: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Case:
    """Make a case from a line that uses the learner's class ``name``."""
    code = compile(line, CASE, "exec")

    def run(answer: Answer) -> Mapping[str, Any]:
        space = {**GIVEN, name: getattr(answer, name)}
        exec(code, space)
        return look(space)

    return Case(line, run)


def usual_mutants(
    name: str, toy: type, usual: Callable[..., Test], never: str = NEVER
) -> tuple[Mutant, ...]:
    """Give the mistakes that any test may have; ``usual(windows=...)`` makes a good one."""

    def toy_alone(cache_class: Any) -> None:
        if cache_class.__name__ == toy.__name__:
            raise AssertionError

    return (
        Mutant("never-refuses", never, {name: lambda cache_class: cache_class is None}),
        Mutant("always-refuses", ALWAYS, {name: always}),
        Mutant("toy-alone", TOY_ALONE, {name: toy_alone}),
        Mutant("one-window", ONE_WINDOW, {name: usual(windows=[4])}),
    )


def mistakes_in(test: str, mended: str) -> tuple[Callable[..., Mutant], Callable[..., Mutant]]:
    """Give what makes a known mistake of a test, and one of a mend: (name, sentence, it)."""
    return (
        lambda name, sentence, wrong: Mutant(name, sentence, {test: wrong}),
        lambda name, sentence, wrong: Mutant(name, sentence, {mended: wrong}),
    )
