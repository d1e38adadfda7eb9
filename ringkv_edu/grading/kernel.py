"""A notebook kernel that notices when it died, and when a cell prints without end.

nbval 0.11 waits for the whole cell timeout when the kernel is gone, and reads no output while a
cell runs, so an endless ``print`` fills the memory (course/instructor_guide.md). What a kernel
sends may be forged: it is counted before it is read, and read here alone.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from queue import Empty
from typing import Any

import zmq
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel, start_new_kernel

from .messages import BYTES_PER_CHARACTER, MESSAGE_COST, Garbled, is_output, parsed, size, values

__all__ = ["Garbled", "Kernel", "KernelDied", "TimeUp", "TooMuchOutput"]

MOST_OUTPUT = 2_000_000  # characters per cell
POLL = 0.05
LOOK_EVERY = 0.2
AT_ONCE = 500  # messages that are taken in before the clock is looked at
QUIET_SECONDS = 1.0  # after a reply; then the word that a cell has ended was lost on its way
DEAD_SECONDS = 0.6  # a reply may still be on its way when the process is gone


class KernelDied(Exception):
    """The kernel's process ended while a cell ran."""


class TooMuchOutput(Exception):
    """A cell printed more than ``MOST_OUTPUT`` characters; its kernel was stopped."""


class TimeUp(Exception):
    """A cell ran on after it was interrupted; its kernel was stopped."""


class Kernel(RunningKernel):  # type: ignore[misc]
    """nbval's kernel, always with the Python that runs pytest, whatever the notebook names."""

    grace = 5.0  # seconds that a cell has to end after it was interrupted

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
        self._waiting: deque[list[bytes]] = deque()  # unread: a kernel drops what nobody takes
        self._characters = self._bytes = 0
        self._cell = ""  # the cell that runs, and since when all is said that it will say
        self._replied = float("inf")
        self._last_moment = float("inf")
        self._next_look = 0.0
        self._dead_since = 0.0

    def watch(self) -> None:
        """Look after the kernel while a cell runs; a plain one may take what it likes."""

    def rest(self) -> None:
        """Wait a moment, or until the kernel says something."""
        zmq.zmq_poll([(s, zmq.POLLIN) for s in self._sockets()], int(POLL * 1000))

    def late(self) -> str:
        """Say how a cell that was stopped for its time came to its end."""
        return f"did not end within {self.cell_timeout:g} s"

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Send a cell; what it may print is counted anew."""
        self._waiting.clear()
        self._characters = self._bytes = 0
        self._replied = float("inf")
        try:
            self._cell = str(super().execute_cell_input(cell_input, allow_stdin))
        except zmq.ZMQError:  # nobody takes it: the other end is gone
            raise KernelDied from None
        return self._cell

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Give the next message; for iopub, what was read while the cell ran comes first.

        Raises ``Empty`` after ``timeout`` seconds, and what ``await_reply`` raises.
        """
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while True:
            message = self._next_output() if stream == "iopub" else self._next_reply()
            now = time.monotonic()
            if now > self._last_moment:  # also where a kernel goes on talking
                self.kill()
                raise TimeUp
            if message is not None:
                self._replied = max(self._replied, now)
                return message
            if self._cell and not self._waiting and now > self._replied + QUIET_SECONDS:
                return _idle(self._cell)
            if now > end:
                raise Empty
            self._look(now)
            if not self._waiting:
                self.rest()

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for a cell's end; raises ``Empty`` at the time limit, ``KernelDied`` without it."""
        end = time.monotonic() + self.cell_timeout
        self._last_moment = end + self.grace
        while True:
            busy = self._drain()
            reply = self._next_reply()
            if reply and reply["parent_header"].get("msg_id") == msg_id:
                self._note(reply["content"])
                self._replied = time.monotonic()
                return
            now = time.monotonic()
            if now > end:  # a kernel that never stops talking must not hide the clock
                raise Empty
            self._look(now)
            if not (busy or reply):
                self.rest()

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

    def _sockets(self) -> Sequence[Any]:
        return [self.kc.shell_channel.socket, self.kc.iopub_channel.socket]

    def _drain(self) -> bool:
        """Take in what waits on iopub, unread; say whether there was anything."""
        for taken in range(AT_ONCE):
            frames = self._frames(self.kc.iopub_channel)
            if frames is None:
                return taken > 0
            self._waiting.append(frames)
        return True

    def _next_output(self) -> dict[str, Any] | None:
        """Read the next message that a cell's outputs are made from, if one is there."""
        self._drain()
        message = self._read(self._waiting.popleft()) if self._waiting else None
        return message if message and is_output(message) else None

    def _next_reply(self) -> dict[str, Any] | None:
        frames = self._frames(self.kc.shell_channel)
        return None if frames is None else self._read(frames)

    def _frames(self, channel: Any) -> list[bytes] | None:
        """Give a channel's next message, unread, or none; stops a kernel that sends too much."""
        try:
            frames: list[bytes] = channel.socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        self._bytes += size(frames)
        if self._bytes > BYTES_PER_CHARACTER * MOST_OUTPUT:
            self._too_much()
        return frames

    def _read(self, frames: list[bytes]) -> dict[str, Any]:
        """Read a message; stops a kernel for one that is too large or has no sense."""
        if values(frames) > MOST_OUTPUT:
            self._too_much()
        try:
            message, characters = parsed(self.kc.session, frames)
        except Garbled:
            self.kill()
            raise
        self._characters += MESSAGE_COST + characters
        if self._characters > MOST_OUTPUT:
            self._too_much()
        return message

    def _too_much(self) -> None:
        self.kill()
        raise TooMuchOutput

    def _note(self, content: dict[str, Any]) -> None:
        self.status = "ok" if content.get("status", "ok") == "ok" else "error"
        payloads = content.get("payload")
        self.quitting = any(
            isinstance(payload, dict) and payload.get("source") == "ask_exit"
            for payload in (payloads if isinstance(payloads, list) else [])
        )

    def _look(self, now: float) -> None:
        """Now and then, see whether the kernel lives, and what it takes."""
        if now < self._next_look:
            return
        self._next_look = now + LOOK_EVERY
        if self.is_alive():
            self._dead_since = 0.0
            self.watch()
            return
        self._dead_since = self._dead_since or now
        if now - self._dead_since > DEAD_SECONDS:
            raise KernelDied


def _idle(cell: str) -> dict[str, Any]:
    """Say what a kernel says at a cell's end, in its place: it drops messages in a flood."""
    content = {"execution_state": "idle"}
    return {"msg_type": "status", "parent_header": {"msg_id": cell}, "content": content}
