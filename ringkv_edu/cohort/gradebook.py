"""The result of grading a cohort, as plain data: what every report is written from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..grading.release import lessons, released_text
from .people import Learner

__all__ = ["SCHEMA", "UNSEALED", "VERSION", "Book", "Entry", "Exercise", "Result", "release_digest"]

VERSION = 1
SCHEMA = "gradebook.schema.json"
UNSEALED = "NOT SEALED"


@dataclass(frozen=True)
class Exercise:
    """One graded exercise of one learner. ``sentence`` names the mistake that prints the same."""

    exercise: str
    worth: int
    earned: float
    cause: str
    right: int
    lines: int
    mistake: str
    sentence: str


@dataclass(frozen=True)
class Entry:
    """One file that was handed in. Only the last of a learner's files for a lesson counts."""

    source: str
    digest: str
    late: bool
    counts: bool
    problem: str = ""


@dataclass(frozen=True)
class Result:
    """What one learner got for one lesson; ``problem`` says why a file could not be graded."""

    lesson: str
    seed: int
    exercises: tuple[Exercise, ...]
    hints: Mapping[str, int]
    files: tuple[Entry, ...]
    problem: str = ""

    @property
    def earned(self) -> float:
        """Points for this lesson."""
        return round(sum(one.earned for one in self.exercises), 2)

    @property
    def worth(self) -> int:
        """Points that the release gives for it."""
        return lessons()[self.lesson].points


@dataclass(frozen=True)
class Book:
    """Everyone's results. ``strays`` are files that belong to no lesson of the course."""

    seal: str
    sealed: bool
    key: str  # the key's fingerprint, never the key
    seeds: str
    lessons: tuple[str, ...]
    learners: Mapping[Learner, tuple[Result, ...]]
    strays: Mapping[Learner, tuple[Entry, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()  # ids of learners who are not on the roster
    silent: tuple[Learner, ...] = ()  # on the roster, and handed in nothing

    @property
    def sealing(self) -> str:
        """Say how the kernels were held; in capitals where nothing held them."""
        plain = self.sealed or self.seal.startswith(UNSEALED)
        return self.seal if plain else f"{UNSEALED}: {self.seal}"

    @property
    def worth(self) -> int:
        """Points that the graded lessons give together."""
        return sum(lessons()[name].points for name in self.lessons)

    def earned(self, learner: Learner) -> float:
        """A learner's points in all of them."""
        return round(sum(result.earned for result in self.learners.get(learner, ())), 2)

    def mistakes(self) -> dict[str, list[tuple[str, str, int]]]:
        """Give for each exercise its mistakes with their sentences and how many made them."""
        sentences: dict[tuple[str, str], str] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for one in self._exercises():
            if one.mistake:
                sentences[one.exercise, one.mistake] = one.sentence
                counts[one.exercise, one.mistake] += 1
        found: dict[str, list[tuple[str, str, int]]] = {}
        for (exercise, mistake), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            found.setdefault(exercise, []).append((mistake, sentences[exercise, mistake], n))
        return found

    def _exercises(self) -> Iterable[Exercise]:
        for results in self.learners.values():
            for result in results:
                yield from result.exercises

    def to_dict(self) -> dict[str, Any]:
        """Give plain data, in one order for the same results; `gradebook.schema.json` says what."""
        return {
            "$schema": SCHEMA,
            "version": VERSION,
            "release": release_digest(),
            "seal": {"sealed": self.sealed, "words": self.sealing},
            "seeds": {"kind": self.seeds, "key_fingerprint": self.key},
            "lessons": [{"name": n, "points": lessons()[n].points} for n in self.lessons],
            "learners": [
                asdict(learner)
                | {"earned": self.earned(learner), "worth": self.worth}
                | {"results": [_result(one) for one in self.learners.get(learner, ())]}
                | {"strays": [asdict(one) for one in self.strays.get(learner, ())]}
                for learner in self.everyone()
            ],
            "unknown": list(self.unknown),
        }

    def everyone(self) -> list[Learner]:
        """Give all learners, those who handed in nothing among them, in order."""
        return sorted({*self.learners, *self.strays, *self.silent})


def release_digest() -> str:
    """Give a fingerprint of the released notebooks that were graded against."""
    text = "\n".join(released_text(name) for name in lessons())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _result(one: Result) -> dict[str, Any]:
    facts = {"lesson": one.lesson, "seed": one.seed, "earned": one.earned, "worth": one.worth}
    facts |= {"problem": one.problem, "hints": dict(sorted(one.hints.items()))}
    facts["files"] = [asdict(file) for file in one.files]
    facts["exercises"] = [asdict(exercise) for exercise in one.exercises]
    return facts
