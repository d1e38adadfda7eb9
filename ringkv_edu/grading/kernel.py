"""A notebook kernel that notices when it died, and when a cell prints without end.

nbval 0.11 waits for the whole cell timeout when the kernel is gone, and reads no output while a
cell runs, so an endless ``print`` fills the memory (course/instructor_guide.md).
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from queue import Empty
from typing import Any

from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel, start_new_kernel

__all__ = ["Kernel", "KernelDied", "TimeUp", "TooMuchOutput"]

MOST_OUTPUT = 2_000_000  # characters per cell
MESSAGE_COST = 200  # what an empty message counts for, so that many small ones end, too
POLL = 0.2
GRACE = 5.0  # seconds that a cell has to end after it was interrupted
DEAD_POLLS = 3  # a reply may still be on its way when the process is gone


class KernelDied(Exception):
    """The kernel's process ended while a cell ran."""


class TooMuchOutput(Exception):
    """A cell printed more than ``MOST_OUTPUT`` characters; its kernel was stopped."""


class TimeUp(Exception):
    """A cell ran on after it was interrupted; its kernel was stopped."""


class Kernel(RunningKernel):  # type: ignore[misc]
    """nbval's kernel, always with the Python that runs pytest, whatever the notebook names."""

    def __init__(self, cwd: str, cell_timeout: float, startup_timeout: float) -> None:
        self._prepare(cell_timeout)
        self.km, self.kc = start_new_kernel(
            startup_timeout=startup_timeout,
            kernel_name=CURRENT_ENV_KERNEL_NAME,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
        )
        self._ensure_iopub_up()

    def _prepare(self, cell_timeout: float) -> None:
        self.cell_timeout = cell_timeout
        self.status = "ok"  # of the last reply: a learner can silence iopub errors, not this
        self.quitting = False  # quit() ends the kernel a moment after the cell
        self._waiting: list[dict[str, Any]] = []
        self._printed: dict[str, int] = {}
        self._last_moment = float("inf")

    def watch(self) -> None:
        """Look after the kernel while a cell runs; a plain one may take what it likes."""

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Give the next message; for iopub, what was read while the cell ran comes first."""
        if stream != "iopub":
            return dict(self.kc.get_shell_msg(timeout=timeout))
        if self._waiting:
            return self._waiting.pop(0)
        if time.monotonic() > self._last_moment:
            self.kill()
            raise TimeUp
        return self._counted(self.kc.get_iopub_msg(timeout=timeout))

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for a cell's end; raises ``Empty`` at the time limit, ``KernelDied`` without it."""
        end = time.monotonic() + self.cell_timeout
        self._last_moment = end + GRACE
        dead = 0
        while True:
            self._read_ahead(end)
            self.watch()
            try:
                message = self.kc.get_shell_msg(timeout=POLL)
            except Empty:
                dead = 0 if self.is_alive() else dead + 1
                if dead >= DEAD_POLLS:
                    raise KernelDied from None
                if time.monotonic() > end:
                    raise
                continue
            if message["parent_header"].get("msg_id") == msg_id:
                self.status = message["content"].get("status", "ok")
                payloads = message["content"].get("payload") or []
                self.quitting = any(payload.get("source") == "ask_exit" for payload in payloads)
                return

    def kill(self) -> None:
        """Stop the process at once."""
        if self.is_alive():
            self.km.shutdown_kernel(now=True)

    def stop(self) -> None:
        """Stop the process and give back its sockets and threads, dead or alive."""
        if not hasattr(self, "km"):
            return
        with contextlib.suppress(Exception):
            self.kc.stop_channels()
        with contextlib.suppress(Exception):
            self.km.shutdown_kernel(now=True)
        with contextlib.suppress(Exception):
            self.km.cleanup_resources()
        del self.km

    def _read_ahead(self, end: float) -> None:
        while time.monotonic() < end:
            try:
                self._waiting.append(self._counted(self.kc.get_iopub_msg(timeout=0)))
            except Empty:
                return

    def _counted(self, message: dict[str, Any]) -> dict[str, Any]:
        parent = message["parent_header"].get("msg_id", "")
        size = MESSAGE_COST + _size(message["content"])
        self._printed[parent] = self._printed.get(parent, 0) + size
        if self._printed[parent] > MOST_OUTPUT:
            self.kill()
            raise TooMuchOutput
        return dict(message)


def _size(part: Any) -> int:
    """Count the characters of everything in a message's content."""
    if isinstance(part, dict):
        return sum(_size(inner) for inner in part.values())
    if isinstance(part, list):
        return sum(_size(inner) for inner in part)
    return len(part) if isinstance(part, str) else 8
