"""The checks: one module per lesson. They hold answers, so a sealed graded run hides them."""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from .model import Exercise

__all__ = ["asking", "exercise", "exercises"]

NEED_TORCH = ("lesson_05",)  # importing one of these imports torch


@cache
def exercises() -> dict[str, Exercise]:
    """Find every exercise, by id, in the order of the lessons; without torch, those before it."""
    found = [exercise for name in _lessons() for exercise in _exercises(name)]
    return {exercise.id: exercise for exercise in found}


def exercise(name: str) -> Exercise:
    """Give one exercise; raises ``KeyError`` with the known ids for a name that is not one.

    Lessons are imported in their order until it is found, so an early one waits for no torch.
    """
    for lesson in _lessons():
        for found in _exercises(lesson):
            if found.id == name:
                return found
    raise KeyError(f"no exercise is called {name!r}; there are {', '.join(exercises())}")


def asking(name: str) -> list[str]:
    """Give the ids of the exercises whose answer cells define a name.

    Where nobody has imported torch yet, no answer to a lesson that needs it can have been run.
    """
    torch = "torch" in sys.modules
    lessons = [lesson for lesson in _lessons() if torch or lesson not in NEED_TORCH]
    return [found.id for each in lessons for found in _exercises(each) if name in found.names]


def _lessons() -> Iterator[str]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    for name in names:
        if re.fullmatch(r"lesson_\d\d", name) and (name not in NEED_TORCH or find_spec("torch")):
            yield name


def _exercises(lesson: str) -> tuple[Exercise, ...]:
    found: tuple[Exercise, ...] = import_module(f"{__name__}.{lesson}").EXERCISES
    return found
