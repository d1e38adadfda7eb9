"""`ringkv grade`: points that count, for many learners at once."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from .cli_options import Command
from .grading.sealed.seeds import KINDS
from .problem import Problem

__all__ = ["add_commands"]


def grade(options: argparse.Namespace) -> int:
    """Grade and report; 0 whatever the points are, 3 where nothing can seal."""
    from .cohort.batch import Batch, Store, check_fresh
    from .cohort.batch import grade as graded
    from .cohort.collect import collect
    from .cohort.people import read_roster
    from .cohort.reports import write_all
    from .grading.sealed.limits import limits_here
    from .grading.sealed.seal import UNSEALED, best_seal, seals

    if options.jobs < 1:
        raise Problem(f"--jobs is {options.jobs}; give 1 or more")
    seal = best_seal()
    if seal.name == "none" and not options.allow_unsealed:
        for each in seals():
            print(f"{each.name}: {each.why_not}", file=sys.stderr)
        print("Nothing here can seal a process; --allow-unsealed goes on without.", file=sys.stderr)
        return UNSEALED
    roster = read_roster(options.roster) if options.roster else None
    systems = _systems(options)
    handed = collect(options.submissions, roster)
    if not handed and not options.nbgrader:
        raise Problem("no notebook lies in what was given")
    store = Store(options.out / "graded")
    check_fresh(store, options.resume)
    hidden = [*options.submissions, options.out, Path.cwd(), *filter(None, [options.nbgrader])]
    masked = tuple(str(path.resolve()) for path in hidden)
    batch = Batch(handed, seal, _key(options), options.seeds, limits_here(),
                  _lessons(options.lessons), roster, masked)  # fmt: skip
    with contextlib.ExitStack() as stack:
        run, workers = _runner(options, stack)
        book = graded(batch, store, workers, run, _Progress())
    made = _nbgrader(options.nbgrader, batch, book) if options.nbgrader else []
    print("\n".join([*made, *write_all(book, options.out, systems)]))
    return 0


def _systems(options: argparse.Namespace) -> Any:
    """Read what Canvas and Moodle exported, before minutes are spent on grading."""
    from .cohort.reports import Systems, canvas, moodle

    name = options.canvas_assignment
    export, sheet = options.canvas_gradebook, options.moodle_worksheet
    return Systems(
        canvas.read_gradebook(export, name) if export else None,
        name,
        moodle.read_worksheet(sheet) if sheet else None,
    )


def _nbgrader(folder: Path, batch: Any, book: Any) -> list[str]:
    from .cohort.reports.nbgrader import write_course

    files = {one.digest: one.data for one in batch.handed}
    return write_course(folder, book, files, {name: batch.oracle_of(name) for name in book.lessons})


def _runner(options: argparse.Namespace, stack: contextlib.ExitStack) -> tuple[Any, int]:
    if not options.scheduler:
        from .cohort.jobs import run_job

        return run_job, options.jobs
    from .cohort.cluster import on_cluster

    return stack.enter_context(on_cluster(options.scheduler, options.jobs))


def _key(options: argparse.Namespace) -> str:
    """Give the key of this run, and keep it beside the results: an appeal needs it."""
    from .grading.sealed.seeds import fresh_key

    file = options.out / "key.json"
    kept = {}
    if options.resume and file.is_file():
        kept = json.loads(file.read_text(encoding="utf-8"))
        if options.key not in (None, kept["key"]) or options.seeds != kept["seeds"]:
            raise Problem(f"{file} belongs to a run with another key or --seeds; leave both out")
    key = options.key or kept.get("key") or fresh_key()
    options.out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"key": key, "seeds": options.seeds}) + "\n", encoding="utf-8")
    file.chmod(0o600)
    return str(key)


def _lessons(given: list[str]) -> tuple[str, ...]:
    from .workspace import lesson_name

    return tuple(dict.fromkeys(lesson_name(one) for one in given))


class _Progress:
    """Says how far it is, at which rate, and how long it will still take."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.fresh = 0

    def __call__(self, done: int, total: int, job: Any, result: Any) -> None:
        self.fresh += 1
        rate = self.fresh / max(time.monotonic() - self.begun, 1e-9)
        left = (total - done) / rate
        said = result["problem"] or f"{sum(row['earned'] for row in result['rows']):g} points"
        line = f"{done}/{total}  {60 * rate:.0f} a minute, {left / 60:.0f} min left"
        print(f"{line}  {job.learner} {job.lesson}: {said}"[:160], file=sys.stderr, flush=True)


def add_commands(command: Command) -> None:
    """Add `grade` to the commands."""
    one = command(
        grade,
        "grade what learners handed in, in sealed kernels with fresh seeds, and write reports",
        "ringkv grade downloads/submissions.zip --out graded --jobs 4",
    )
    one.add_argument(
        "submissions", nargs="*", type=Path, metavar="SUBMISSIONS",
        help="folders, notebooks, and zip files as Canvas and Moodle give them",
    )  # fmt: skip
    one.add_argument("--out", type=Path, required=True, help="the folder for results and reports")
    one.add_argument("--jobs", type=int, default=2, help="notebooks at a time (default 2)")
    one.add_argument(
        "--lessons",
        nargs="+",
        default=[],
        help="grade these, as in 01 02 (default: all that were handed in)",
    )
    one.add_argument("--roster", type=Path, help="a CSV with a column id, and name, email, ids")
    one.add_argument("--key", help="draw the seeds that this key gives (default: a new key)")
    one.add_argument(
        "--seeds", choices=KINDS, default="run",
        help="one seed for all, or one for each learner or file (default run)",
    )  # fmt: skip
    one.add_argument("--resume", action="store_true", help="go on where an earlier run ended")
    one.add_argument(
        "--allow-unsealed", action="store_true", help="go on where nothing can seal a process"
    )
    one.add_argument(
        "--canvas-gradebook", type=Path, metavar="CSV", help="fill this gradebook from Canvas"
    )
    one.add_argument(
        "--canvas-assignment", default="", metavar="NAME", help="the assignment's column in it"
    )
    one.add_argument(
        "--moodle-worksheet", type=Path, metavar="CSV", help="fill this worksheet from Moodle"
    )
    one.add_argument(
        "--nbgrader", type=Path, metavar="FOLDER", help="write a course folder for nbgrader, too"
    )
    one.add_argument("--scheduler", help="run the jobs on this Dask scheduler, or `local`")
