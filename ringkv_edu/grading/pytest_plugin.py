"""The pytest plugin that makes `pytest --nbval` usable on this course's notebooks.

It takes over files that are ours, and files that cannot be read when they stand among ours. It
does nothing without `--nbval`, and nothing to other people's notebooks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

PREFIX = "ringkv_"
NOT_OURS = "it is none of this course's notebooks"
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


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """In a sealed run, take no code from where notebooks were handed in: it would run here."""
    if getattr(early_config.known_args_namespace, "ringkv_sealed", False):
        from .handed_in import keep_code_out

        keep_code_out(early_config)


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
    from ..problem import Problem
    from .handed_in import refuse_settings
    from .sealed.limits import limits_here
    from .sealed.seal import UNSEALED, best_seal, seals
    from .sealed.seeds import fresh_key
    from .sealed.session import KEY, SealedRun

    try:
        limits = limits_here()
    except Problem as error:
        raise pytest.UsageError(str(error)) from None
    refuse_settings(config)
    seal = best_seal()
    if seal.name == "none" and not config.option.allow_unsealed:
        reasons = "; ".join(f"{each.name}: {each.why_not}" for each in seals())
        why = f"nothing here can seal a process ({reasons})"
        pytest.exit(f"{why}; --allow-unsealed goes on without", returncode=UNSEALED)
    key = os.environ.setdefault(KEY, fresh_key())
    return SealedRun(seal, limits, key, masked=(config.rootpath, config.invocation_params.dir))


def closing(sealed: Any) -> str:
    """Say how a sealed run was sealed, and how to draw its seeds again."""
    from .sealed.session import KEY

    return (
        f"Graded with a fresh seed; {sealed.seal.words}. The same seeds again: {KEY}={sealed.key}"
    )


class _Taker:
    """Collects our notebooks in nbval's place; in a sealed run, nothing else."""

    def __init__(self, config: pytest.Config) -> None:
        from .handed_in import tops

        self.config = config
        self.sealed = sealed_run(config)
        self.tops = tops(config)
        self._among: bool | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(
        self, path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Keep a sealed run from importing an `__init__.py`, and out of where links lead."""
        from .handed_in import refused

        if not self.sealed:
            return None
        why = refused(path, self.tops)
        return self._broken(path, parent, why) if why else pytest.Dir.from_parent(parent, path=path)

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[Any], list[Any]]:
        collectors = yield
        if file_path.suffix != ".ipynb":
            return [] if self.sealed else collectors
        if KEPT.search(file_path.name) and not self._asked_for(file_path):
            return []  # an old copy beside the one that counts
        ours = self._ours(file_path, parent)
        if ours is None and self.sealed:
            ours = self._broken(file_path, parent, NOT_OURS)
        return collectors if ours is None else [ours]

    def _ours(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        from .cells import NotebookFile
        from .explain import clean
        from .handed_in import safe
        from .sealed.oracle import OracleError
        from .submission import LINK, Unreadable, is_linked, lesson_named, read_submission

        lesson = ""
        try:
            if self.sealed and is_linked(path, self.tops):
                return self._broken(path, parent, LINK)
            submission = read_submission(path)
            if not submission.lesson:
                return None
            lesson = submission.lesson
            file: NotebookFile = NotebookFile.from_parent(parent, path=path, **safe(path))
            file.prepare(submission, self.sealed)
            return file
        except Unreadable as error:
            reason, lesson = str(error), lesson_named(path)
            if not lesson and not self.among_ours():
                return None
        except OracleError as error:
            raise pytest.UsageError(str(error)) from None
        except Exception as error:
            said = clean(str(error), 200)
            reason = f"the notebook is not well formed ({type(error).__name__}): {said}"
        return self._broken(path, parent, reason, lesson)

    def _broken(
        self, path: Path, parent: pytest.Collector, reason: str, lesson: str = ""
    ) -> pytest.Collector:
        from .cells import BrokenFile
        from .handed_in import safe

        broken: BrokenFile = BrokenFile.from_parent(parent, path=path, **safe(path))
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
        from .handed_in import some_ours

        if self._among is None:
            self._among = some_ours(self.config)
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
