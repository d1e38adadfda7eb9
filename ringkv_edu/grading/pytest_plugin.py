"""The pytest plugin that makes `pytest --nbval` usable on this course's notebooks.

It takes over files that are ours, and files that cannot be read when they stand among ours. It
does nothing without `--nbval`, and nothing to other people's notebooks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

PREFIX = "ringkv_"
UNSEALED = 3  # the exit status where nothing can seal a process
KEPT = re.compile(r"\.kept-\d+\.ipynb$")  # what `ringkv reset` and `ringkv update` put aside


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a sealed run to nbval's."""
    group = parser.getgroup("ringkv")
    group.addoption(
        "--ringkv-sealed", action="store_true",
        help="with --nbval: grade with a fresh seed, in kernels that see nothing but their lesson",
    )  # fmt: skip
    group.addoption(
        "--allow-unsealed", action="store_true",
        help="with --ringkv-sealed: go on where this machine cannot seal a process",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Start working when nbval was asked to run notebooks."""
    option = config.option
    if not (getattr(option, "nbval", False) or getattr(option, "nbval_lax", False)):
        return
    taker = _Taker(config)
    config.pluginmanager.register(taker, "ringkv-taker")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(config), "ringkv-reporter")
    if getattr(option, "dist", "no") != "no" and taker.among_ours():
        option.dist = "loadfile"  # the cells of a notebook need one another


def sealed_run(config: pytest.Config) -> Any:
    """Give what a sealed run needs, or nothing when none was asked for.

    The key goes to worker processes by the environment, so that all draw the same seeds.
    """
    given = config.pluginmanager.get_plugin("ringkv-sealed-run")
    if given or not getattr(config.option, "ringkv_sealed", False):
        return given
    from .sealed.seal import best_seal, seals
    from .sealed.seeds import fresh_key
    from .sealed.session import KEY, SealedRun

    seal = best_seal()
    if seal.name == "none" and not config.option.allow_unsealed:
        reasons = "; ".join(f"{each.name}: {each.why_not}" for each in seals())
        why = f"nothing here can seal a process ({reasons})"
        pytest.exit(f"{why}; --allow-unsealed goes on without", returncode=UNSEALED)
    key = os.environ.setdefault(KEY, fresh_key())
    return SealedRun(seal, key=key, masked=(config.rootpath, config.invocation_params.dir))


def closing(sealed: Any) -> str:
    """Say how a sealed run was sealed, and how to draw its seeds again."""
    from .sealed.session import KEY

    return (
        f"Graded with a fresh seed; {sealed.seal.words}. The same seeds again: {KEY}={sealed.key}"
    )


class _Taker:
    """Collects our notebooks in nbval's place."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.sealed = sealed_run(config)
        self._among: bool | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[Any], list[Any]]:
        collectors = yield
        if file_path.suffix != ".ipynb":
            return collectors
        if KEPT.search(file_path.name) and not self._asked_for(file_path):
            return []  # an old copy beside the one that counts
        ours = self._ours(file_path, parent)
        return collectors if ours is None else [ours]

    def _ours(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        from .cells import BrokenFile, NotebookFile
        from .points import readable
        from .sealed.oracle import OracleError
        from .submission import Unreadable, lesson_named, read_submission

        # a name in other bytes than UTF-8 would break every report that pytest writes
        safe: dict[str, Any] = {"nodeid": readable(path)} if str(path) != readable(path) else {}
        lesson = ""
        try:
            submission = read_submission(path)
            if not submission.lesson:
                return None
            lesson = submission.lesson
            file: NotebookFile = NotebookFile.from_parent(parent, path=path, **safe)
            file.prepare(submission, self.sealed)
            return file
        except Unreadable as error:
            reason, lesson = str(error), lesson_named(path)
            if not lesson and not self.among_ours():
                return None
        except OracleError as error:
            raise pytest.UsageError(str(error)) from None
        except Exception as error:
            reason = f"the notebook is not well formed ({type(error).__name__}): {error}"
        broken: BrokenFile = BrokenFile.from_parent(parent, path=path, **safe)
        broken.reason, broken.lesson = reason, lesson
        return broken

    def _asked_for(self, path: Path) -> bool:
        start = self.config.invocation_params.dir
        return path in (Path(start, argument.split("::")[0]) for argument in self.config.args)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Generator[None, None, None]:
        """Run a notebook whole, in order, whichever of its cells were asked for (-k, --lf, ids)."""
        yield
        chosen: dict[int, list[Any]] = {}
        for item in items:
            whole = getattr(item.parent, "items", None)
            if whole and hasattr(item.parent, "merged"):
                chosen.setdefault(id(item.parent), whole)
            else:
                chosen[id(item)] = [item]
        items[:] = [item for group in chosen.values() for item in group]

    def among_ours(self) -> bool:
        """Say whether any notebook that this run was asked for is one of ours."""
        if self._among is None:
            self._among = any(_is_ours(path) for path in _notebooks(self.config))
        return self._among


class _Reporter:
    """Adds up the points and shows them after the run."""

    def __init__(self, config: pytest.Config) -> None:
        from .points import CourseResult

        self.config = config
        self.course = CourseResult()
        taker: Any = config.pluginmanager.get_plugin("ringkv-taker")
        if taker.sealed:
            self.course.closing = closing(taker.sealed)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts = {
            name.removeprefix(PREFIX): value
            for name, value in report.user_properties
            if name.startswith(PREFIX)
        }
        if "file" not in facts or (report.when != "call" and report.outcome == "passed"):
            return
        # a cell after a timeout is "xpassed", with the outcome "passed": it earns nothing
        passed = (
            report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail")
        )
        if report.when == "setup" and report.failed:
            facts.setdefault("cause", "the notebook's kernel did not start")
        if report.when != "teardown":
            self.course.note(facts, passed)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from .points import table

        if self.course.files:
            terminalreporter.section("points")
            for line in table(self.course, self.config.rootpath):
                terminalreporter.line(line)


def _is_ours(path: Path) -> bool:
    from .submission import Unreadable, lesson_named, read_submission

    try:
        return bool(read_submission(path).lesson)
    except Unreadable:
        return bool(lesson_named(path))


def _notebooks(config: pytest.Config) -> Iterator[Path]:
    """Walk what the run was asked for, as pytest does: through links, past hidden folders."""
    for argument in config.args:
        path = Path(config.invocation_params.dir, argument.split("::")[0])
        if path.suffix == ".ipynb" and not path.is_dir():
            yield path
        for folder, folders, files in os.walk(path, followlinks=True):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (Path(folder, name) for name in files if name.endswith(".ipynb"))
