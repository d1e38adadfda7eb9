"""Grades what was handed in, side by side, and keeps each result the moment it is there."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..grading.release import lessons
from ..grading.sealed.limits import Limits
from ..grading.sealed.oracle import Oracle
from ..grading.sealed.seal import Seal
from ..grading.sealed.session import oracle_for
from ..grading.submission import Submission, Unreadable, lesson_named, read_submission
from ..problem import Problem
from .collect import HandedIn
from .gradebook import Book, Entry, Exercise, Result
from .hints import hints_taken
from .jobs import Job, run_job, stop_all
from .people import Learner, Roster

__all__ = ["Batch", "Store", "check_fresh", "grade"]

Run = Callable[[Job], dict[str, Any]]
Tell = Callable[[int, int, Job, dict[str, Any]], None]


@dataclass(frozen=True)
class Read:
    """A file that was handed in, read as far as it can be."""

    handed: HandedIn
    lesson: str
    hints: Mapping[str, int]
    problem: str


@dataclass
class Store:
    """Keeps each result as a file of its own, so that a crash loses none."""

    folder: Path
    used: set[str] = field(default_factory=set)

    def get(self, job: Job) -> dict[str, Any] | None:
        """Give a job's result if there is one, whole."""
        try:
            return dict(json.loads((self.folder / f"{job.id}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def put(self, job: Job, result: Mapping[str, Any]) -> None:
        """Write a result at once or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, sort_keys=True, ensure_ascii=False)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(self.folder / f"{job.id}.json")


@dataclass
class Batch:
    """What a run was asked for. ``kind`` says whose seeds are apart: run, learner, submission."""

    handed: Sequence[HandedIn]
    seal: Seal
    key: str
    kind: str = "run"
    limits: Limits = field(default_factory=Limits)
    lessons: tuple[str, ...] = ()
    roster: Roster | None = None
    masked: tuple[str, ...] = ()
    oracles: dict[tuple[str, str], Oracle] = field(default_factory=dict)

    def oracle(self, read: Read) -> Oracle:
        """Give what is right for one notebook; made once for each seed."""
        whose = {"run": "", "learner": read.handed.learner.id, "submission": read.handed.digest}
        return self.oracle_of(read.lesson, whose[self.kind])

    def oracle_of(self, lesson: str, whose: str = "") -> Oracle:
        """Give what is right in a lesson, with the seed of a learner or a file, or of the run."""
        key = lesson, whose
        if key not in self.oracles:
            self.oracles[key] = oracle_for(lesson, self.key, whose)
        return self.oracles[key]

    def job(self, read: Read) -> Job:
        """Make the job of grading one notebook."""
        oracle, learner = self.oracle(read).to_json(), read.handed.learner.id
        where = self.seal.name, self.limits, self.masked
        return Job(learner, read.lesson, read.handed.data, oracle, *where)


def grade(
    batch: Batch, store: Store, workers: int, run: Run = run_job, tell: Tell | None = None
) -> Book:
    """Grade with several workers at a time; ``tell`` hears of each result. Gives all results."""
    files = [_read(one) for one in batch.handed]
    places = _by_place(files)
    chosen = batch.lessons or tuple(name for name in lessons() if name in {n for _, n in places})
    counting = {key: some for key, some in places.items() if key[1] in chosen}
    due = {key: some[-1] for key, some in counting.items() if not some[-1].problem}
    results = {}
    for key, job, result in _graded(batch, due, store, workers, run, tell):
        results[key] = job, result
    return _book(batch, files, chosen, counting, results)


def _read(handed: HandedIn) -> Read:
    """Find out which lesson a file is, and why it cannot be graded if it cannot."""
    if handed.problem:
        return Read(handed, _named(handed.file), {}, handed.problem)
    with tempfile.TemporaryDirectory(prefix="ringkv-") as folder:
        path = Path(folder, f"{_named(handed.file) or 'notebook'}.ipynb")
        path.write_bytes(handed.data)
        try:
            submission: Submission = read_submission(path)
        except Unreadable as error:
            return Read(handed, lesson_named(path), {}, str(error))
        except Exception as error:
            reason = f"the notebook is not well formed ({type(error).__name__})"
            return Read(handed, lesson_named(path), {}, reason)
    if not submission.lesson:
        return Read(handed, "", {}, "it is none of this course's notebooks")
    return Read(handed, submission.lesson, hints_taken(submission), "")


def _named(file: str) -> str:
    return next((name for name in lessons() if name in file), "")


def _by_place(files: Sequence[Read]) -> dict[tuple[Learner, str], list[Read]]:
    """Sort files by learner and lesson, the one that counts, the latest, last."""
    places: dict[tuple[Learner, str], list[Read]] = {}
    for one in files:
        if one.lesson:
            places.setdefault((one.handed.learner, one.lesson), []).append(one)
    for some in places.values():
        some.sort(key=lambda one: one.handed.order)
    return dict(sorted(places.items()))


def _graded(
    batch: Batch,
    due: Mapping[tuple[Learner, str], Read],
    store: Store,
    workers: int,
    run: Run,
    tell: Tell | None,
) -> Iterator[tuple[tuple[Learner, str], Job, dict[str, Any]]]:
    """Run what the store does not hold yet; give all results, in the order in which they come."""
    waiting = list(due.items())
    done = 0
    with ThreadPoolExecutor(workers) as pool:
        running: dict[Future[dict[str, Any]], tuple[tuple[Learner, str], Job]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    key, read = waiting.pop(0)
                    job = batch.job(read)
                    kept = store.get(job)
                    if kept is None:
                        running[pool.submit(run, job)] = key, job
                        continue
                    done += 1
                    yield key, job, kept
                ended, _ = wait(running, return_when=FIRST_COMPLETED) if running else ((), ())
                for future in ended:
                    key, job = running.pop(future)
                    result = future.result()
                    store.put(job, result)
                    done += 1
                    if tell:
                        tell(done, len(due), job, result)
                    yield key, job, result
        except BaseException:  # an interrupt, above all: do not wait for what still runs
            pool.shutdown(wait=False, cancel_futures=True)
            stop_all()
            raise


def _book(
    batch: Batch,
    files: Sequence[Read],
    chosen: tuple[str, ...],
    counting: Mapping[tuple[Learner, str], list[Read]],
    results: Mapping[tuple[Learner, str], tuple[Job, dict[str, Any]]],
) -> Book:
    learners: dict[Learner, tuple[Result, ...]] = {}
    for (learner, lesson), some in counting.items():
        job, result = results.get(
            (learner, lesson), (None, {"problem": some[-1].problem, "rows": []})
        )
        seed = Oracle.from_json(job.oracle).seed if job else 0
        one = _result(lesson, seed, some, result)
        learners[learner] = (*learners.get(learner, ()), one)
    strays: dict[Learner, tuple[Entry, ...]] = {}
    for read in files:
        if not read.lesson:
            entry = _entry(read, False)
            strays[read.handed.learner] = (*strays.get(read.handed.learner, ()), entry)
    known = set(batch.roster.learners) if batch.roster else set()
    present = {*learners, *strays}
    unknown = tuple(sorted(one.id for one in present - known)) if batch.roster else ()
    return Book(
        batch.seal.words, batch.seal.name != "none", _fingerprint(batch.key), batch.kind, chosen,
        learners, strays, unknown, tuple(sorted(known - present)),
    )  # fmt: skip


def _result(lesson: str, seed: int, some: Sequence[Read], result: Mapping[str, Any]) -> Result:
    rows = {row["cell"]: row for row in result["rows"]}
    blank = {"earned": 0, "cause": "the file cannot be graded", "right": 0, "lines": 0}
    blank |= {"mistake": "", "sentence": ""}
    exercises = []
    for cell in lessons()[lesson].graded:
        facts = blank | {k: v for k, v in rows.get(cell.id, {}).items() if k in blank}
        exercises.append(Exercise(cell.exercise, cell.points, **facts))
    entries = [_entry(one, one is some[-1]) for one in some]
    return Result(lesson, seed, tuple(exercises), some[-1].hints, tuple(entries), result["problem"])


def _entry(read: Read, counts: bool) -> Entry:
    return Entry(read.handed.source, read.handed.digest, read.handed.late, counts, read.problem)


def _fingerprint(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def check_fresh(store: Store, resume: bool) -> None:
    """Refuse to add to an earlier run's results, unless that is asked for."""
    if not resume and store.folder.is_dir() and any(store.folder.iterdir()):
        raise Problem(
            f"{store.folder.parent} holds results already: give another folder or --resume"
        )
