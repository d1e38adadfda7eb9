"""nbval's file and cell, for our notebooks: run the release with a learner's answers in it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

from .by_hand import broken_rule
from .enclosed import enclosed
from .explain import clean, difference, error_cause
from .kernel import MOST_OUTPUT, Garbled, Kernel, KernelDied, TimeUp, TooMuchOutput
from .merge import UNTOUCHED, Merged, merge, refuse
from .points import readable, shown
from .release import ReleasedLesson, lessons
from .sealed.kernel import CutOff, TooLarge
from .sealed.marks import marks, printed_by
from .sealed.session import SealedRun
from .submission import Submission

__all__ = ["BrokenNotebook", "NotebookFile", "row"]

NBVAL_TIMEOUT, OUR_TIMEOUT = 2000, 60  # nbval's default, and what it is for our notebooks
DIED = "the kernel died (os._exit, a crash, or out of memory)"
QUIT = "ends the kernel with quit() or exit(): take that out"
TOO_MUCH = f"prints without end: stopped after {MOST_OUTPUT:,} characters"
CUT_OFF = "prints without end, more than 8 MiB at once; or closes its kernel's sockets"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
MOST_TRACEBACK, WIDEST_LINE = 25, 200


def row(item: pytest.Item, **facts: Any) -> None:
    """Note facts about an item where reports carry them, across worker processes, too."""
    item.user_properties += [(f"ringkv_{name}", fact) for name, fact in facts.items()]


class NotebookFile(IPyNbFile):  # type: ignore[misc]
    """One of our notebooks.

    ``stopped`` says where the kernel ended, so that no later cell can run; ``stopped_by`` is the
    exercise whose code did it, and ``stop_cause`` what it did.
    """

    lesson: ReleasedLesson
    merged: Merged
    sealed: SealedRun | None = None
    stopped = stopped_by = stop_cause = ""

    def prepare(self, submission: Submission, sealed: SealedRun | None = None) -> None:
        """Put the answers into the release; raises whatever an odd file leads to."""
        self.lesson, self.sealed = lessons()[submission.lesson], sealed
        merged = merge(self.lesson, submission)
        self.merged = refuse(self.lesson, merged, partial(broken_rule, self.lesson.name))
        if sealed:
            self.merged = sealed.book(self.lesson.name, self.merged)
        self.nb = nbformat.reads(json.dumps(self.merged.book), as_version=4)
        self.answer_errors: dict[str, str] = {}

    def collect(self) -> Iterator[pytest.Item]:
        """Give one item for each code cell of the release, named by its id."""
        points = {cell.id: cell.points for cell in self.lesson.graded}
        code = [cell for cell in self.nb.cells if cell.cell_type == "code"]
        self.items: list[NotebookCell] = []
        for number, cell in enumerate(code):
            if cell.metadata.ringkv.role == "graded":
                cell.source = enclosed(cell.source)
            options = defaultdict(bool, check=_compared(cell))
            item = NotebookCell.from_parent(
                self, name=cell.id, cell_num=number, cell=cell, options=options
            )
            row(item, file=readable(self.path), lesson=self.lesson.name, cell=cell.id)
            row(item, points=points.get(cell.id, 0))
            self.items.append(item)
        yield from self.items

    def setup(self) -> None:
        """Start the kernel: in the notebook's folder, or sealed."""
        option = self.config.option
        if self.sealed:
            self.kernel = self.sealed.kernel(self.lesson.name, self.path.resolve().parent)
            return
        timeout = float(option.nbval_cell_timeout)
        self.kernel = Kernel(
            str(self.path.parent),
            OUR_TIMEOUT if timeout == NBVAL_TIMEOUT else timeout,
            option.nbval_kernel_startup_timeout,
        )

    def teardown(self) -> None:
        """Give back what the kernel held, dead or alive, and what it printed."""
        if self.kernel is not None:
            self.kernel.stop()
        for item in self.items:
            item.test_outputs = None


class NotebookCell(IPyNbCell):  # type: ignore[misc]
    """One cell; a graded one compares what was printed, line by line."""

    parent: NotebookFile

    @property
    def role(self) -> str:
        """What the release says this cell is."""
        return str(self.cell.metadata.ringkv.role)

    @property
    def exercise(self) -> str:
        """The exercise it belongs to, if any."""
        return str(self.cell.id).removesuffix("-graded").removesuffix("-check")

    def setup(self) -> None:
        """Do not run at all after a timeout or a dead kernel: such a cell earns nothing."""
        if self.parent.stopped:
            own = self.exercise == self.parent.stopped_by
            row(self, cause=self.parent.stop_cause if own else f"not run: {self.parent.stopped}")
            pytest.xfail(f"not run: {self.parent.stopped}")

    def runtest(self) -> None:
        """Run the cell; raises ``NbCellError`` with a cause in one line as its message."""
        kernel = self.parent.kernel
        if not kernel.is_alive():  # a thread that outlived its cell ended it
            self.fail(self._stop("the kernel died", DIED))
        try:
            super().runtest()
        except NbCellError as error:
            self.fail(self._cause(error), ANSI.sub("", error.inner_traceback or ""))
        except Exception as error:
            kernel.stop()
            self.fail(self._ended(error))
        if self.parent.timed_out:  # it went on after it was interrupted, and then came to an end
            self.fail(self._late())
        if self.role == "graded" and self.exercise in self.parent.merged.broken:
            self.fail("")  # another cell's code stands in for an answer that breaks a rule
        if kernel.status != "ok":
            self.fail("raises an error and hides it")
        if kernel.quitting:
            self.fail(self._stop("the kernel was ended", QUIT))
        row(self, **self._marks())

    def fail(self, cause: str, details: str = "") -> None:
        """Note the cause for the points table and fail."""
        state = self.parent.merged.states.get(self.exercise, "")
        if self.role == "answer":
            self.parent.answer_errors[self.exercise] = f"its answer cell {cause}"
        elif not self.parent.stopped:
            cause = state or self.parent.answer_errors.get(self.exercise, cause)
        row(self, cause=cause)
        row(self, **({} if state else self._marks()))
        raise NbCellError(
            self.cell_num, cause, self.cell.source, "" if state == UNTOUCHED else details
        )

    def _marks(self) -> dict[str, Any]:
        """In a sealed run, say how much of a graded cell's output is right."""
        file = self.parent
        if not file.sealed or self.role != "graded" or file.stopped:
            return {}
        oracle = file.sealed.oracle(file.lesson.name)
        return marks(file.lesson, self.cell.id, oracle, self.test_outputs or [])

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        """Compare a graded cell's printed text alone: a warning on stderr costs no points."""
        if self.role != "graded":
            return bool(super().compare_outputs(test, ref, skip_compare))
        expected, printed = printed_by(ref), printed_by(test)
        self.comparison_traceback = [] if expected == printed else difference(expected, printed)
        return expected == printed

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """Say what went wrong in a learner's words."""
        error = excinfo.value
        if not isinstance(error, NbCellError):
            return f"{self.name}: {type(error).__name__}: {error}"
        details = (error.inner_traceback or "").strip("\n").splitlines()
        cut = ["  ..."] if len(details) > MOST_TRACEBACK else []
        details = [clean(line, WIDEST_LINE) for line in details]
        file = shown(Path(readable(self.path)), self.config.invocation_params.dir)
        return "\n".join([f"{file}, {self.name}: {error}", *cut, *details[-MOST_TRACEBACK:]])

    def reportinfo(self) -> tuple[Any, int, str]:
        """Name the cell by its id."""
        return self.path, 0, self.name

    def _cause(self, error: NbCellError) -> str:
        if self.parent.timed_out:
            return self._late()
        if str(error) == "Cell outputs differ":
            return self.comparison_traceback[0].strip() if self.comparison_traceback else str(error)
        raised = [o for o in self.test_outputs or [] if o.output_type == "error"]
        if raised:
            return error_cause(raised[-1].ename, raised[-1].evalue, self.parent.merged.elsewhere)
        return str(error)

    def _ended(self, error: Exception) -> str:
        """Say why no later cell can run: what an odd kernel led to must not stay without a name."""
        if isinstance(error, TimeUp):
            return self._late()
        if isinstance(error, KernelDied) and not isinstance(error, TooLarge):
            return self._stop("the kernel died", DIED)
        causes = {
            TooLarge: f"took {error}",
            CutOff: CUT_OFF,
            TooMuchOutput: TOO_MUCH,
            Garbled: f"sends what no kernel sends: {error}",
        }
        other = f"cannot be graded: {type(error).__name__}: {error}"
        cause = clean(causes.get(type(error), other), WIDEST_LINE)  # type: ignore[call-overload]
        return self._stop("the kernel was stopped", cause)

    def _late(self) -> str:
        late = self.parent.kernel.late()
        return self._stop(late, f"{late}: a loop without end?")

    def _stop(self, what: str, cause: str) -> str:
        """Note that no later cell can run."""
        self.parent.stopped = f"{what} in {self.name}"
        self.parent.stopped_by, self.parent.stop_cause = self.exercise, cause
        return cause


class BrokenNotebook(pytest.Item):
    """Stands for a file that cannot be read, so that the others still run."""

    def __init__(self, *, reason: str, lesson: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reason = reason
        row(self, file=readable(self.path), lesson=lesson, cell="", points=0, cause=reason)

    def runtest(self) -> None:
        """Fail with the reason."""
        pytest.fail(f"{clean(self.path.name, WIDEST_LINE)}: {self.reason}", pytrace=False)

    def reportinfo(self) -> tuple[Any, int, str]:
        """Name the file."""
        return self.path, 0, f"{clean(self.path.name, WIDEST_LINE)}: cannot be read"


class BrokenFile(pytest.File):
    """The file of a ``BrokenNotebook``."""

    reason = ""
    lesson = ""

    def collect(self) -> Iterator[pytest.Item]:
        """Give the one item that fails."""
        yield BrokenNotebook.from_parent(
            self, name="cannot-be-read", reason=self.reason, lesson=self.lesson
        )


def _compared(cell: Any) -> bool:
    role = cell.metadata.ringkv.role
    return role == "graded" or (role in ("given", "scene") and cell.execution_count is not None)
