"""The `ringkv` command. Standard library only, so that it can say what is missing."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import (
    __version__,
    cli_audit,
    cli_budget,
    cli_duel,
    cli_evaluate,
    cli_grade,
    cli_kit,
    cli_models,
    cli_monitor,
    cli_real,
    cli_rings,
)
from .problem import Problem

LAB = 'python -m pip install -c constraints.txt -e ".[lab]"'
FIRST = "00_start_here.ipynb"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; gives the exit status: 0 done, 1 not all is well, 2 a wrong call."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    own, _, passed_on = _split(arguments)
    options = _parser().parse_args(own)
    options.passed_on = passed_on
    for stream in (sys.stdout, sys.stderr):  # a console that lacks a character shows "?"
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        return int(options.run(options))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ringkv_edu"):
            raise
        print(f"ringkv: {error.name} is not installed; run: {LAB}", file=sys.stderr)
    except OSError as error:
        print(f"ringkv: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
    except Exception as error:
        known = type(error).__name__ in ("WorkspaceError", "BuildError")
        if not known and not isinstance(error, Problem):
            raise
        print(f"ringkv: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("ringkv: stopped", file=sys.stderr)
    return 2


def start(options: argparse.Namespace) -> int:
    """Fill the course folder and open JupyterLab there."""
    from .progress import course_folder
    from .workspace import fill

    folder = Path(options.folder) if options.folder else course_folder() or Path("work")
    new, kept = fill(folder)
    print(f"{folder}: {len(new)} lessons copied, {len(kept)} left as they were")
    if options.no_lab:
        return 0
    # as the default address, so that it is the one printed, too, when no browser can be opened
    first = f"--LabApp.default_url=/lab/tree/{FIRST}"
    command = [sys.executable, "-m", "jupyterlab", first, *options.passed_on]
    import importlib.util

    if not importlib.util.find_spec("jupyterlab"):
        raise Problem(f"JupyterLab is not installed; run: {LAB}")
    print("opening JupyterLab; stop it with Ctrl+C")
    return subprocess.call(command, cwd=folder)


def doctor(options: argparse.Namespace) -> int:
    """Look at this machine and say what to do for each miss."""
    from .doctor import examine

    broken = 0
    for finding in examine():
        mark = "ok" if finding.well else "MISSING" if finding.needed else "-"
        print(f"{mark:<8} {finding.what:<14} {finding.seen}", flush=True)
        if not finding.well and finding.advice:
            print(f"{'':<24}{finding.advice}")
        broken += finding.needed and not finding.well
    print("All that lessons 00-04 need is here." if not broken else f"{broken} things to mend.")
    return 1 if broken else 0


def build(options: argparse.Namespace) -> int:
    """Build the notebooks from course/lessons, or check that they are built."""
    from .build.run import build, course_root, differences, write

    try:
        root = course_root()
    except FileNotFoundError as error:
        raise Problem(str(error)) from None
    files = build(root, print)
    if not options.check:
        changed = write(root, files)
        print("\n".join(f"wrote {path.as_posix()}" for path in changed) or "nothing has changed")
        return 0
    found = differences(root, files)
    print("\n".join(found) or f"all {len(files)} generated files are what the sources build")
    if found:
        print(
            "Edit course/lessons and run `ringkv build`; generated files are never edited by hand."
        )
    return 1 if found else 0


def check(options: argparse.Namespace) -> int:
    """Show the points of some notebooks."""
    from .grading.points import table
    from .grading.selfcheck import check

    paths = [_notebook(text) for text in options.notebook]
    try:
        course = check(paths)
    except RuntimeError as error:
        raise Problem(f"none of what was given is a notebook of this course.\n{error}") from None
    print("\n".join(table(course, Path.cwd())))
    results = course.files.values()
    return 0 if all(r.earned == r.worth and not r.problem for r in results) else 1


def _notebook(text: str) -> Path:
    """Find what `ringkv check` is to run: a notebook, a folder of them, or a lesson by number."""
    from .workspace import WorkspaceError, lesson_name, notebook_of

    path = Path(text)
    if path.is_dir() or (path.exists() and path.suffix == ".ipynb"):
        return path
    if path.exists():
        raise Problem(f"{path} is no notebook: give one, such as work/{FIRST}")
    try:
        return notebook_of(_folder(None), lesson_name(text))
    except (WorkspaceError, Problem):
        raise Problem(f"{path} does not exist: give a notebook, such as work/{FIRST}") from None


def status(options: argparse.Namespace) -> int:
    """Show how far you are in every lesson."""
    from .grading.selfcheck import status

    print("\n".join(status(_folder(options.folder))))
    return 0


def reset(options: argparse.Namespace) -> int:
    """Put a fresh copy of one lesson into the course folder."""
    from .workspace import lesson_name, reset

    folder, lesson = _folder(options.folder), lesson_name(options.lesson)
    kept = reset(folder, lesson)
    print(f"{folder / lesson}.ipynb is fresh" + (f"; your old one is {kept.name}" if kept else ""))
    return 0


def update(options: argparse.Namespace) -> int:
    """Bring the course folder to this release."""
    from .workspace import update

    print("\n".join(update(_folder(options.folder))))
    return 0


def _folder(given: str | None) -> Path:
    """Find the course folder: the one given, the one we stand in, or ./work."""
    from .progress import course_folder

    if given:
        if not Path(given).is_dir():
            raise Problem(f"{given} is not a folder")
        return Path(given)
    found = course_folder() or (Path("work") if Path("work", ".ringkv").is_dir() else None)
    if found is None:
        raise Problem(
            "this is no course folder, and there is none in ./work: `ringkv start` makes one"
        )
    return found


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    if "--" not in arguments:
        return arguments, "", []
    place = arguments.index("--")
    return arguments[:place], "--", arguments[place + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ringkv",
        description="The course on the ring-buffer KV cache.",
        epilog="Begin with `ringkv start`. Each command explains itself: `ringkv start --help`.",
    )
    parser.add_argument("--version", action="version", version=f"ringkv_edu {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run: object, help: str, example: str) -> argparse.ArgumentParser:
        name = getattr(run, "__name__", "")
        sub = commands.add_parser(
            name,
            help=help,
            description=help,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run)
        return sub

    def folder(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--folder", help="the course folder (default: this one, or ./work)")

    one = command(
        start,
        "copy the lessons into a folder, never over existing work, and open JupyterLab there",
        "ringkv start\n  ringkv start ~/ring-course -- --no-browser --port 9000",
    )
    one.add_argument(
        "folder", nargs="?", help="where your copies go (default: the course folder here, or work)"
    )
    one.add_argument(
        "--no-lab", action="store_true", help="copy only; what follows -- goes to JupyterLab"
    )
    command(doctor, "look at this machine; say what to do for each thing missing", "ringkv doctor")
    one = command(
        build,
        "build notebooks/ and solutions/ from course/lessons (for authors)",
        "ringkv build --check",
    )
    one.add_argument(
        "--check", action="store_true", help="write nothing; fail when something differs"
    )
    one = command(
        check,
        "run notebooks and show the points of each exercise; a lesson number will do",
        "ringkv check work/01_plain_python_ring.ipynb",
    )
    one.add_argument(
        "notebook", nargs="+", help="a notebook of yours, a folder, or a lesson's number"
    )
    folder(command(status, "show how far you are in every lesson", "ringkv status"))
    one = command(
        reset,
        "put a fresh copy of a lesson into your folder; the old one is kept beside it",
        "ringkv reset 01",
    )
    one.add_argument("lesson", help="its number, name or file")
    folder(one)
    folder(
        command(
            update,
            "bring your folder to this release: answers are carried over, old files kept",
            "ringkv update",
        )
    )
    more = cli_budget, cli_audit, cli_duel, cli_grade, cli_rings, cli_models, cli_real
    for part in (*more, cli_evaluate, cli_monitor, cli_kit):
        part.add_commands(command)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
