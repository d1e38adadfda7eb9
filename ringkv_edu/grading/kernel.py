"""A notebook kernel that notices when it died, and when a cell prints without end.

nbval 0.11 waits for the whole cell timeout when the kernel is gone, and reads no output while a
cell runs, so an endless ``print`` fills the memory (course/instructor_guide.md).
"""

from __future__ import annotations

import time
from queue import Empty
from typing import Any

from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel

__all__ = ["Kernel", "KernelDied", "TooMuchOutput"]

MOST_OUTPUT = 2_000_000  # characters per cell
POLL = 0.2
DEAD_POLLS = 3  # a reply may still be on its way when the process is gone


class KernelDied(Exception):
    """The kernel's process ended while a cell ran."""


class TooMuchOutput(Exception):
    """A cell printed more than ``MOST_OUTPUT`` characters; its kernel was stopped."""


class Kernel(RunningKernel):  # type: ignore[misc]
    """nbval's kernel, always with the Python that runs pytest, whatever the notebook names."""

    def __init__(self, cwd: str, cell_timeout: float, startup_timeout: float) -> None:
        self.cell_timeout = cell_timeout
        self.status = "ok"  # of the last reply: a learner can silence iopub errors, not this
        self.quitting = False  # quit() ends the kernel a moment after the cell
        self._waiting: list[dict[str, Any]] = []
        self._printed: dict[str, int] = {}
        super().__init__(CURRENT_ENV_KERNEL_NAME, cwd=cwd, startup_timeout=startup_timeout)

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Give the next message; for iopub, what was read while the cell ran comes first."""
        if stream == "iopub":
            if self._waiting:
                return self._waiting.pop(0)
            return self._counted(super().get_message(stream, timeout=timeout))
        message: dict[str, Any] = super().get_message(stream, timeout=timeout)
        return message

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for a cell's end; raises ``Empty`` at the time limit, ``KernelDied`` without it."""
        end = time.monotonic() + self.cell_timeout
        dead = 0
        while True:
            self._read_ahead()
            try:
                message = super().get_message("shell", timeout=POLL)
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

    def _read_ahead(self) -> None:
        while True:
            try:
                self._waiting.append(self._counted(super().get_message("iopub", timeout=0)))
            except Empty:
                return

    def _counted(self, message: dict[str, Any]) -> dict[str, Any]:
        content, parent = message["content"], message["parent_header"].get("msg_id", "")
        size = len(content.get("text") or "")
        size += sum(len(str(part)) for part in (content.get("data") or {}).values())
        self._printed[parent] = self._printed.get(parent, 0) + size
        if self._printed[parent] > MOST_OUTPUT:
            self.kill()
            raise TooMuchOutput
        return message
