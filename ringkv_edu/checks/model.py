"""What an exercise is: cases to run, a right answer to compare with, and known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import SimpleNamespace
from typing import Any

__all__ = ["Answer", "Case", "Exercise", "Mutant", "answers"]

Answer = SimpleNamespace
"""The learner's names, as attributes: ``answer.write`` is what the notebook calls ``write``."""


@dataclass(frozen=True)
class Case:
    """One input. ``given`` says it in words; ``run`` gives labelled plain data to compare."""

    given: str
    run: Callable[[Answer], Mapping[str, Any]]


@dataclass(frozen=True)
class Mutant:
    """A known mistake, as real code. ``sentence`` is what a learner who made it reads."""

    name: str
    sentence: str
    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Exercise:
    """One exercise of a lesson.

    ``names`` are what the answer cell defines. ``cases(rng)`` draws the inputs. ``reference`` is
    a right answer; a mutant needs only the names in which it differs from it.
    """

    id: str
    names: tuple[str, ...]
    cases: Callable[[Random], list[Case]]
    reference: Mapping[str, Any]
    mutants: tuple[Mutant, ...]

    def answer(self, changes: Mapping[str, Any] | None = None) -> Answer:
        """Give the reference answer, with some names replaced."""
        return Answer(**{**self.reference, **(changes or {})})


def answers(*functions: Any, **named: Any) -> dict[str, Any]:
    """Collect functions under their own names: ``answers(write, read=other)``."""
    return {function.__name__: function for function in functions} | named
