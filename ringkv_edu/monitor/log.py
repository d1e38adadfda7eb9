"""Reads a recorded log back: see ``ringkv_edu.monitor.watch`` for its lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evaluate.lines import read_lines
from ..problem import Problem
from .caches import capacity_of

__all__ = ["Log", "RunLog", "read_log", "undisturbed"]

Line = dict[str, Any]
NEEDED = {"step": ("kind", "n", "seen", "seconds", "bytes", "batch", "held")}


@dataclass
class RunLog:
    """One run: its head, its steps, and what else happened."""

    head: Line
    steps: list[Line] = field(default_factory=list)
    events: list[Line] = field(default_factory=list)
    first: Line | None = None

    @property
    def decode(self) -> list[Line]:
        """The steps of one token."""
        return [step for step in self.steps if step["kind"] == "decode"]

    @property
    def timed(self) -> list[Line]:
        """The decode steps that were timed."""
        return [step for step in self.decode if step["seconds"] is not None]

    def event(self, kind: str) -> Line | None:
        """Give the first event of a kind: alarm, stop, end."""
        return next((one for one in self.events if one["event"] == kind), None)

    @property
    def capacities(self) -> list[int | None]:
        """How many exact tokens each layer says it keeps; None where it keeps all."""
        return [capacity_of(layer) for layer in self.head["layers"]]

    @property
    def bounded(self) -> list[int]:
        """The layers that say they keep no more than some tokens."""
        return [at for at, size in enumerate(self.capacities) if size is not None]

    @property
    def seen(self) -> int:
        """Tokens at the end."""
        return int(self.steps[-1]["seen"]) if self.steps else 0

    def time(self, late: bool) -> float | None:
        """Give the undisturbed seconds of a decode step in the first or last quarter."""
        timed = self.timed
        if len(timed) < 8:
            return None
        quarter = timed[-(len(timed) // 4) :] if late else timed[: len(timed) // 4]
        return undisturbed(quarter)


def undisturbed(steps: list[Line]) -> float:
    """Give the seconds below which a tenth of some steps lie: whatever disturbs one adds to it."""
    times = sorted(step["seconds"] for step in steps)
    return float(times[len(times) // 10])


@dataclass
class Log:
    """A run, and the run beside it that keeps everything, if there was one."""

    path: Path
    run: RunLog
    reference: RunLog | None = None


def read_log(path: Path | str) -> Log:
    """Read a log; raises ``Problem`` for a file that is none."""
    path = Path(path)
    if not path.is_file():
        raise Problem(f"{path} is no file; give a log that `ringkv monitor --log` has written")
    lines, _ = read_lines(path)
    runs: dict[str, RunLog] = {}
    for number, line in enumerate(lines, 1):
        _sort_in(line, runs, f"{path}, line {number}")
    if "run" not in runs or not runs["run"].steps:
        raise Problem(f"{path} holds no recorded steps; record some with `ringkv monitor`")
    return Log(path, runs["run"], runs.get("reference"))


def _sort_in(line: Line, runs: dict[str, RunLog], where: str) -> None:
    event, name = line.get("event"), line.get("run")
    if event == "run" and isinstance(name, str):
        if name in runs:
            raise Problem(f"{where}: a second {name!r} begins; give each recording its own file")
        runs[name] = RunLog(line)
        return
    if not isinstance(name, str) or name not in runs:
        raise Problem(f"{where}: no run has begun; give a log that `ringkv monitor` has written")
    missing = [key for key in NEEDED.get(str(event), ()) if key not in line]
    if missing:
        raise Problem(f"{where}: a step without {', '.join(missing)}; the log is of another kind")
    run = runs[name]
    if event == "step":
        run.steps.append(line)
    elif event == "first":
        run.first = line
    else:
        run.events.append(line)
