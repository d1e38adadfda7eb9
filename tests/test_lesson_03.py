"""The cases of lesson 03 are lines that a learner can paste after the setup cell."""

from __future__ import annotations

from random import Random

import pytest

from ringkv_edu.checks import exercises
from ringkv_edu.grading.release import lessons, source_of

NAMES = (
    "chunk1-stays",
    "chunk2-mask",
    "chunk3-step",
    "chunk4-rewind",
    "chunk5-full",
    "case03-trim",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_case_runs_in_the_notebook(name: str) -> None:
    exercise = exercises()[name]
    setup = next(lessons()["03_chunks_and_rewind"].cells("given"))
    names = dict(exercise.reference)
    exec(compile(source_of(setup), "setup", "exec"), names)
    for case in exercise.cases(Random(f"{name}:1")):
        before, _, last = case.given.rpartition("; ")
        assert len(case.given) < 200
        exec(before, names)
        try:
            exec(last, names)
        except ValueError:  # a refused rewind ends the line
            assert last.startswith("rewind("), case.given
