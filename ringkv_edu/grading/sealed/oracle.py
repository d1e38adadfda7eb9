"""What the right answers, and the known wrong ones, print in graded cells with a given seed.

Runs in a process of its own (``python -m ringkv_edu.grading.sealed.oracle``), never in a kernel
that a learner's code has seen: it needs the solutions and the modules that hold answers.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...graded import PROBE
from ...problem import Problem
from ..enclosed import enclosed
from ..release import lessons, role_of, source_of, with_seed
from .seeds import ATTEMPTS

__all__ = ["KnownMistake", "Oracle", "OracleError", "ask"]

NUDGES = ("0", "1e-6", "-1e-6")
SECONDS = 300


class OracleError(Problem):
    """The solution could not be run; the text says what happened."""


@dataclass(frozen=True)
class KnownMistake:
    """A mistake of the course, and what it prints, with the name of the error it ends with."""

    name: str
    sentence: str
    printed: str


@dataclass(frozen=True)
class Oracle:
    """References of one lesson for one seed, by graded cell; and by exercise its mistakes.

    ``untouched`` is what graded cells print where nothing is answered.
    """

    lesson: str
    seed: int
    references: Mapping[str, str]
    mistakes: Mapping[str, tuple[KnownMistake, ...]]
    untouched: Mapping[str, str]

    def to_json(self) -> str:
        """Write it as one line."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Oracle:
        """Read what ``to_json`` wrote."""
        data = json.loads(text)
        mistakes = {
            exercise: tuple(KnownMistake(**one) for one in some)
            for exercise, some in data["mistakes"].items()
        }
        return cls(data["lesson"], data["seed"], data["references"], mistakes, data["untouched"])


def ask(lesson: str, solution: Path, some_seeds: Iterable[int]) -> Oracle:
    """Run a solution in a process of its own, with the first seed that no rounding edge spoils.

    Raises ``OracleError``.
    """
    wanted = [seed for seed, _ in zip(some_seeds, range(ATTEMPTS), strict=False)]
    # -P: what lies in the current folder may be a submission, and is not imported from
    command = [sys.executable, "-P", "-m", __name__, lesson, str(solution), json.dumps(wanted)]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    root = str(Path(__file__).resolve().parents[3])
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [root, environment.get("PYTHONPATH", "")])
    )
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        raise OracleError(f"the solution of {lesson} did not end within {SECONDS} s") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise OracleError(f"the solution of {lesson} cannot be run: {last[0]}")
    return Oracle.from_json(done.stdout.splitlines()[-1])


def _main(lesson: str, solution: str, some_seeds: list[int]) -> None:
    out = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = _solved(lesson, Path(solution))
        found = next(_telling(lesson, names, some_seeds), None)
    if found is None:
        raise SystemExit(f"none of {len(some_seeds)} seeds tells right answers from wrong ones")
    out.write("\n" + found.to_json() + "\n")


def _telling(lesson: str, names: dict[str, Any], some_seeds: list[int]) -> Iterator[Oracle]:
    """Give oracles for the seeds with which no known mistake prints what is right."""
    cells = {graded.exercise: graded.id for graded in lessons()[lesson].graded}
    for seed, references in _steady(lesson, names, some_seeds):
        mistakes = _mistakes(lesson, names, seed)
        pairs = [
            (one.printed, references[cells[e]]) for e, some in mistakes.items() for one in some
        ]
        if all(wrong != right for wrong, right in pairs):
            yield Oracle(lesson, seed, references, mistakes, _untouched(lesson, names, seed))


def _solved(lesson: str, solution: Path) -> dict[str, Any]:
    """Run the given cells and the answers of a solution; give the names that they define."""
    cells = json.loads(solution.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        role = role_of(cell)
        if cell["cell_type"] == "code" and role in ("given", "answer"):
            exec(compile(source_of(cell), f"<{cell['id']}>", "exec"), names)
    return names


def _steady(
    lesson: str, names: dict[str, Any], some_seeds: list[int]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the seeds whose references stay as they are when numbers are a millionth off."""
    for seed in some_seeds:
        found = [_all_printed(lesson, names, seed, nudge) for nudge in NUDGES]
        if found[0] == found[1] == found[2]:
            yield seed, found[0]


def _all_printed(lesson: str, names: dict[str, Any], seed: int, nudge: str) -> dict[str, str]:
    os.environ[PROBE] = nudge
    return {
        cell["id"]: _printed(source_of(cell), names, seed)
        for cell in lessons()[lesson].cells("graded")
    }


def _untouched(lesson: str, names: dict[str, Any], seed: int) -> dict[str, str]:
    """Give what graded cells print with the released stubs in the place of the answers."""
    stubs = dict(names)
    for cell in lessons()[lesson].cells("answer"):
        with contextlib.suppress(Exception):
            exec(compile(source_of(cell), f"<{cell['id']}>", "exec"), stubs)
    return _all_printed(lesson, stubs, seed, "0")


def _mistakes(lesson: str, names: dict[str, Any], seed: int) -> dict[str, tuple[KnownMistake, ...]]:
    from ...checks import exercise

    os.environ[PROBE] = "0"
    sources = {cell["id"]: source_of(cell) for cell in lessons()[lesson].cells("graded")}
    found = {}
    for graded in lessons()[lesson].graded:
        known = exercise(graded.exercise)
        some = []
        for mutant in known.mutants:
            wrong = {**names, **vars(known.answer(mutant.answer))}
            printed = _printed(sources[graded.id], wrong, seed)
            some.append(KnownMistake(mutant.name, mutant.sentence, printed))
        found[graded.exercise] = tuple(some)
    return found


def _printed(source: str, names: Mapping[str, Any], seed: int) -> str:
    """Run a graded cell; an error's name stands behind what was printed before it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(enclosed(with_seed(source, seed)), "<graded>", "exec"), dict(names))
        except Exception as error:
            return f"{out.getvalue()}\n!{type(error).__name__}"
    return out.getvalue()


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
